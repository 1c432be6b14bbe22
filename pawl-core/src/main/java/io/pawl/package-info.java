/** Distributed locks and counters: what a user of Pawl sees, and the engine behind it. */
@NullMarked
package io.pawl;

import org.jspecify.annotations.NullMarked;
