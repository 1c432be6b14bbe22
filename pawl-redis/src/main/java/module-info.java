/** Stores on Redis and Valkey. */
module io.pawl.redis {
  requires transitive io.pawl;
  requires static org.jspecify;
  requires transitive lettuce.core;
  requires io.netty.buffer;
  requires io.netty.common;
  // Lettuce, an automatic module, does not say what it requires; this brings the rest of Netty.
  requires io.netty.resolver.dns;
  requires org.slf4j;

  exports io.pawl.redis;
  exports io.pawl.redis.transition;

  provides io.pawl.spi.StoreProvider with
      io.pawl.redis.RedisProvider;
}
