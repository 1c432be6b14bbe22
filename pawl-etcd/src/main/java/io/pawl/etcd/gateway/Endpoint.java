package io.pawl.etcd.gateway;

/**
 * Where a member of the cluster listens for clients.
 *
 * @param host a name or an address, an IPv6 address without brackets
 * @param port 1 to 65535
 */
public record Endpoint(String host, int port) {
  @Override
  public String toString() {
    return (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + port;
  }
}
