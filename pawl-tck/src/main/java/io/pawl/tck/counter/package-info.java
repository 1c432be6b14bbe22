/** Cases of counters. */
@NullMarked
package io.pawl.tck.counter;

import org.jspecify.annotations.NullMarked;
