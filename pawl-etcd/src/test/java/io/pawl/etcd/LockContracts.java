package io.pawl.etcd;

import io.pawl.tck.LockServerContracts;
import java.time.Duration;

/** As far as etcd's leases can be short. */
abstract class LockContracts extends LockServerContracts {

  @Override
  protected Duration shortLease() {
    return Duration.ofMillis(500);
  }
}
