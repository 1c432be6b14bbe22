/** Commands that keep a store small, and right after it was restored. */
@NullMarked
package io.pawl.cli.upkeep;

import org.jspecify.annotations.NullMarked;
