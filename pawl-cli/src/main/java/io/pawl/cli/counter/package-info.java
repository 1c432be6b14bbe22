/** {@code pawl counter}. */
@NullMarked
package io.pawl.cli.counter;

import org.jspecify.annotations.NullMarked;
