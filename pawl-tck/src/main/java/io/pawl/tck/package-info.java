/** Contracts to subclass: every store and every lock passes them. */
@NullMarked
package io.pawl.tck;

import org.jspecify.annotations.NullMarked;
