/** The seam between the engine and a store, for those who write a store. */
@NullMarked
package io.pawl.spi;

import org.jspecify.annotations.NullMarked;
