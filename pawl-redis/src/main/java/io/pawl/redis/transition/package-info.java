/** For a release in between, beside one that locks by plain keys of its own. */
@NullMarked
package io.pawl.redis.transition;

import org.jspecify.annotations.NullMarked;
