/** Counters that never oversell, and what became of each change. */
@NullMarked
package io.pawl.counter;

import org.jspecify.annotations.NullMarked;
