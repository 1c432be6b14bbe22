package io.pawl.zookeeper;

import io.pawl.spi.Diagnosable.Finding;
import java.util.List;

/** Examines the ensemble. What may not be asked is a finding, not a failure. */
record Doctor(Settings settings, QueuedClaims claims) {

  List<Finding> examine() {
    return List.of();
  }
}
