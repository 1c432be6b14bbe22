/** Distributed locks and counters: the API of Pawl. */
@NullMarked
package io.pawl;

import org.jspecify.annotations.NullMarked;
