/** Stores on Redis and Valkey. */
module io.pawl.redis {
  requires transitive io.pawl;
  requires static org.jspecify;
  requires lettuce.core;
  requires io.netty.common;
  requires org.slf4j;

  exports io.pawl.redis;

  provides io.pawl.spi.StoreProvider with
      io.pawl.redis.RedisProvider;
}
