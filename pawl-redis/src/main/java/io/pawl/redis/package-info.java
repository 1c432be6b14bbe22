/** Locks on Redis and Valkey, through Lettuce: one script per verb, one key per lock. */
@NullMarked
package io.pawl.redis;

import org.jspecify.annotations.NullMarked;
