/** Five Redis of which a majority decides, beside one of them and Redisson's lock over all five. */
@NullMarked
package io.pawl.bench.quorum;

import org.jspecify.annotations.NullMarked;
