/** The interface between the engine and a store, for authors of stores. */
@NullMarked
package io.pawl.spi;

import org.jspecify.annotations.NullMarked;
