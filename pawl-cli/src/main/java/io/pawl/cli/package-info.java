/** {@code pawl}: finds the command, and describes itself and its surroundings. */
@NullMarked
package io.pawl.cli;

import org.jspecify.annotations.NullMarked;
