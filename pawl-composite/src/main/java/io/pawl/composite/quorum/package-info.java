/** One lock store made of several independent ones, of which a majority decides. */
@NullMarked
package io.pawl.composite.quorum;

import org.jspecify.annotations.NullMarked;
