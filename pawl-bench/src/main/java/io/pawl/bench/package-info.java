/** The command {@code pawl bench}: its options, the machine it runs on, and what a suite is. */
@NullMarked
package io.pawl.bench;

import org.jspecify.annotations.NullMarked;
