/** Fences, which refuse writes under old fencing tokens. */
@NullMarked
package io.pawl.fence;

import org.jspecify.annotations.NullMarked;
