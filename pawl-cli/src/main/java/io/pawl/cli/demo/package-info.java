/** {@code pawl demo}: a fight over a lock, a flash sale, and the checks of both. */
@NullMarked
package io.pawl.cli.demo;

import org.jspecify.annotations.NullMarked;
