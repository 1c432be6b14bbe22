package io.pawl.zookeeper;

/** What the contracts' servers have in common. */
final class ContractServers {

  /** Leases of 100 ms to 7 days have sessions of their own. */
  static final String[] OPTIONS = {
    "tickTime=100", "minSessionTimeout=200", "maxSessionTimeout=700000000"
  };

  static final String PARAMETERS = "?tick=100ms";

  private ContractServers() {}
}
