package io.pawl.sql.lock;

import io.pawl.error.StoreException;
import io.pawl.spi.Claim;
import io.pawl.spi.Standing;
import io.pawl.spi.rule.GrantRule;
import io.pawl.spi.rule.LockState;
import java.time.Duration;

/** How many may hold one lock: all of them stand in its row, which is written whole. */
public final class Crowd {

  /** Of a semaphore, or readers of a lock. Those who wait and are granted together may be more. */
  public static final int MAX_HOLDERS = 10_000;

  private Crowd() {}

  /**
   * As {@link GrantRule#attempt}.
   *
   * @throws StoreException where the claim would be one too many
   */
  public static Standing attempt(LockState state, Claim claim, long now) {
    boolean full = state.holders().size() >= MAX_HOLDERS;
    boolean holds =
        full && state.holders().stream().anyMatch(holder -> holder.id().equals(claim.id()));
    Standing standing = GrantRule.attempt(state, claim, now);
    if (full && !holds && state.holders().size() > MAX_HOLDERS) {
      GrantRule.withdraw(state, claim.withMinHold(Duration.ZERO), now);
      throw new StoreException(
          "lock '"
              + claim.lock()
              + "' has "
              + MAX_HOLDERS
              + " holders already, the most that its row takes; acquire several permits together,"
              + " or use several names");
    }
    return standing;
  }
}
