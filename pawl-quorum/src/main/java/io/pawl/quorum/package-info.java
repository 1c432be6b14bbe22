/** One lock store made of several independent ones, of which a majority decides. */
@NullMarked
package io.pawl.quorum;

import org.jspecify.annotations.NullMarked;
