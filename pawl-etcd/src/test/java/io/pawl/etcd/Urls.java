package io.pawl.etcd;

import io.pawl.servers.EtcdServer;

/** Addresses of servers, and their options for tests. */
final class Urls {

  /**
   * Leases of a second, not of two; the members are on one machine. Nobody pulls the plug, and a
   * disk on which databases of other modules force their logs kept etcd silent for longer than 500
   * ms.
   */
  static final String[] QUICK = {
    "--heartbeat-interval=20", "--election-timeout=200", "--unsafe-no-fsync"
  };

  private Urls() {}

  static String of(EtcdServer server) {
    return "etcd://" + server.host() + ":" + server.port();
  }
}
