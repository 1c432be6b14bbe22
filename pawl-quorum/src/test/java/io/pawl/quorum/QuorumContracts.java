package io.pawl.quorum;

import io.pawl.tck.ExclusionServerContracts;
import java.time.Duration;

/** All contracts but those of semaphores, which a quorum does not have. */
abstract class QuorumContracts extends ExclusionServerContracts {

  /** Some cases hold a lock for a minute. */
  static final String OPTIONS = "longestLease=60s&nodeTimeout=5s";

  @Override
  protected Duration shortLease() {
    return Duration.ofMillis(600);
  }

  @Override
  protected Duration longestLease() {
    return Duration.ofSeconds(60);
  }
}
