/** {@code pawl list}, {@code show} and {@code release}: what people see of locks, and eviction. */
@NullMarked
package io.pawl.cli.inspect;

import org.jspecify.annotations.NullMarked;
