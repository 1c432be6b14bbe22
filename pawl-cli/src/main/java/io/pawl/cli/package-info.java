/** The {@code pawl} command. */
@NullMarked
package io.pawl.cli;

import org.jspecify.annotations.NullMarked;
