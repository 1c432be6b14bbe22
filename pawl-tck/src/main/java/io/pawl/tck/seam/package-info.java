/** Cases at the seam: what the engine relies on. */
@NullMarked
package io.pawl.tck.seam;

import org.jspecify.annotations.NullMarked;
