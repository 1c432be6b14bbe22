/** What Pawl throws. */
@NullMarked
package io.pawl.error;

import org.jspecify.annotations.NullMarked;
