/** Stores made of stores: a gate before a truth. */
module io.pawl.composite {
  requires transitive io.pawl;
  requires static org.jspecify;
  requires org.slf4j;

  exports io.pawl.composite;

  provides io.pawl.spi.StoreProvider with
      io.pawl.composite.GateProvider;
}
