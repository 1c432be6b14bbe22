/** Operations on counters and their results. */
@NullMarked
package io.pawl.counter;

import org.jspecify.annotations.NullMarked;
