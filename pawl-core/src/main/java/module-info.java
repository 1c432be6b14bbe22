/** Locks, leases and counters, the engine behind them, and the seam for stores. */
module io.pawl {
  requires static transitive org.jspecify;
  requires org.slf4j;

  exports io.pawl;
  exports io.pawl.counter;
  exports io.pawl.error;
  exports io.pawl.fence;
  exports io.pawl.memory;
  exports io.pawl.options;
  exports io.pawl.spi;
  exports io.pawl.spi.rule;
  exports io.pawl.concurrent to
      io.pawl.composite,
      io.pawl.etcd,
      io.pawl.quorum,
      io.pawl.redis,
      io.pawl.redisson,
      io.pawl.shedlock,
      io.pawl.spring,
      io.pawl.spring.integration,
      io.pawl.sql,
      io.pawl.tck;

  uses io.pawl.spi.StoreProvider;

  provides io.pawl.spi.StoreProvider with
      io.pawl.memory.MemoryProvider;
}
