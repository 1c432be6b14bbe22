/** Real servers as private processes, and a proxy that plays network faults. */
module io.pawl.servers {
  requires java.net.http;
  requires org.slf4j;
  requires static transitive org.jspecify;

  exports io.pawl.servers;
  exports io.pawl.servers.fault;
}
