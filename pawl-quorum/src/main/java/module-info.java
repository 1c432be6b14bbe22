/** A store made of several independent ones, of which a majority decides. */
module io.pawl.quorum {
  requires transitive io.pawl;
  requires static org.jspecify;
  requires org.slf4j;

  exports io.pawl.quorum;

  provides io.pawl.spi.StoreProvider with
      io.pawl.quorum.QuorumProvider;
}
