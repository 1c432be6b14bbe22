package io.pawl;

import io.pawl.options.LockOptions;
import io.pawl.options.PawlOptions;
import io.pawl.spi.Inspectable.ClaimView;
import io.pawl.spi.Inspectable.LockView;
import io.pawl.spi.Mode;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * What the store said of a lock or semaphore at one moment: for people, metrics and tests. It may
 * be out of date when it arrives, so decide nothing by it. Immutable.
 *
 * @param name of the lock
 * @param capacity the permits of a semaphore; 0 for a lock, and for a name that the store does not
 *     know
 * @param lastToken the largest token granted so far, 0 if none is remembered
 * @param holders in the order of their grants
 * @param waiters in the queue, the next first
 */
public record LockSnapshot(
    String name, int capacity, long lastToken, List<Claimant> holders, List<Claimant> waiters) {

  /**
   * A holder or a waiter. Threads of one client that pass a lock among themselves, or read
   * together, show as one.
   *
   * @param isShared whether it holds or waits as a reader
   * @param permits the permits of a semaphore that it holds or wants, 0 for a lock
   * @param token the first token of the hold, 0 for a waiter
   * @param lastToken the last token set aside for the hold, 0 for a waiter
   * @param since when it was granted, or joined the queue, by the store's clock
   * @param until when it runs out unless renewed, by the store's clock
   * @param host the machine's name
   * @param pid the process id
   * @param thread the thread that asked
   * @param application as in {@link PawlOptions#application}
   * @param note as in {@link LockOptions#note}
   */
  public record Claimant(
      boolean isShared,
      int permits,
      long token,
      long lastToken,
      Instant since,
      Instant until,
      String host,
      long pid,
      String thread,
      String application,
      String note) {

    private static Claimant of(ClaimView claim) {
      return new Claimant(
          claim.mode() instanceof Mode.Shared,
          claim.mode() instanceof Mode.Permits some ? some.wanted() : 0,
          claim.token(),
          claim.lastToken(),
          claim.since(),
          claim.until(),
          claim.holder().host(),
          claim.holder().pid(),
          claim.holder().thread(),
          claim.holder().application(),
          claim.holder().note());
    }
  }

  public LockSnapshot {
    holders = List.copyOf(holders);
    waiters = List.copyOf(waiters);
  }

  static LockSnapshot of(String name, Optional<LockView> known) {
    if (known.isEmpty()) {
      return new LockSnapshot(name, 0, 0, List.of(), List.of());
    }
    LockView view = known.get();
    return new LockSnapshot(
        name,
        view.kind() == null ? 0 : view.kind().capacity(),
        view.lastToken(),
        view.holders().stream().map(Claimant::of).toList(),
        view.waiters().stream().map(Claimant::of).toList());
  }

  /** Returns whether anybody holds the lock, or any of the semaphore's permits. */
  public boolean isHeld() {
    return !holders.isEmpty();
  }
}
