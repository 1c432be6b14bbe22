/** Stores made of stores: a gate before a truth, and a quorum of several. */
module io.pawl.composite {
  requires transitive io.pawl;
  requires static org.jspecify;
  requires org.slf4j;

  exports io.pawl.composite;
  exports io.pawl.composite.quorum;

  provides io.pawl.spi.StoreProvider with
      io.pawl.composite.GateProvider,
      io.pawl.composite.quorum.QuorumProvider;
}
