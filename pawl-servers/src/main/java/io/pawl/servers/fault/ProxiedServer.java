package io.pawl.servers.fault;

import io.pawl.servers.FaultProxy;
import io.pawl.servers.ServerProcess;

/** A server and the proxy through which clients come to it. Closing it closes both. */
public record ProxiedServer(String name, ServerProcess server, FaultProxy proxy)
    implements AutoCloseable {

  @Override
  public void close() {
    proxy.close();
    server.close();
  }
}
