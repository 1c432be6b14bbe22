/** What {@code pawl bench} measures, by name. */
@NullMarked
package io.pawl.bench.suite;

import org.jspecify.annotations.NullMarked;
