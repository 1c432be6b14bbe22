package io.pawl.zookeeper;

import io.pawl.tck.LockServerContracts;
import java.time.Duration;

/** As far as ZooKeeper's sessions can be short and long. */
abstract class LockContracts extends LockServerContracts {

  /** Ten ticks: sessions are kept alive by requests, and machines stall. */
  @Override
  protected Duration shortLease() {
    return Duration.ofSeconds(1);
  }

  /** ZooKeeper's client has no longer sessions. */
  @Override
  protected Duration longestLease() {
    return Duration.ofDays(6);
  }
}
