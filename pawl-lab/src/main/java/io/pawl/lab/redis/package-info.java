/** Locks and counters on Redis as they are often written, each with the schedule that breaks it. */
@NullMarked
package io.pawl.lab.redis;

import org.jspecify.annotations.NullMarked;
