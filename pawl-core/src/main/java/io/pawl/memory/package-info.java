/** A store in this process, for tests and simulation. */
@NullMarked
package io.pawl.memory;

import org.jspecify.annotations.NullMarked;
