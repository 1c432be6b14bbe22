/** Loads that measure Pawl beside its rivals in one run. */
@NullMarked
package io.pawl.bench;

import org.jspecify.annotations.NullMarked;
