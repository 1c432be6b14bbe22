/** The store on etcd. */
module io.pawl.etcd {
  requires transitive io.pawl;
  requires static org.jspecify;
  requires org.slf4j;
  requires tools.jackson.core;

  exports io.pawl.etcd;

  provides io.pawl.spi.StoreProvider with
      io.pawl.etcd.EtcdProvider;
}
