/** Options of a client and of a lock. */
@NullMarked
package io.pawl.options;

import org.jspecify.annotations.NullMarked;
