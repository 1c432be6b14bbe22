/** The exceptions of Pawl. */
@NullMarked
package io.pawl.error;

import org.jspecify.annotations.NullMarked;
