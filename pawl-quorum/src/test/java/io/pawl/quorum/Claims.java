package io.pawl.quorum;

import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Holder;
import io.pawl.spi.Mode;
import java.time.Duration;

/** Claims made without the engine. */
final class Claims {

  private Claims() {}

  /** Exclusive, waits for its turn, asks for one token. */
  static Claim exclusive(String lock, String client, long number, Duration lease) {
    return new Claim(
        lock,
        new ClaimId(client, number),
        Mode.EXCLUSIVE,
        lease,
        Duration.ZERO,
        true,
        1,
        0,
        false,
        new Holder("host", 1, "thread", "", ""));
  }
}
