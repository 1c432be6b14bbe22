package io.pawl.spi;

import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** A store whose locks can be shown and corrected. No lock is ever granted by it. */
public interface Inspectable {

  /**
   * A lock as it stands: holders in the order of their grants, waiters in the queue.
   *
   * @param kind null if no claim has been granted yet, as far as the store remembers
   */
  record LockView(
      String name,
      @Nullable Kind kind,
      long lastToken,
      List<ClaimView> holders,
      List<ClaimView> waiters) {
    public LockView {
      holders = List.copyOf(holders);
      waiters = List.copyOf(waiters);
    }
  }

  /**
   * A claim as it stands. A hold whose owner has ended it before its shortest time was over is
   * among the holders until then.
   *
   * @param token the first token of a held claim, 0 for a waiting one
   * @param lastToken the last token of a held claim, 0 for a waiting one
   * @param since when it was granted, or joined the queue
   * @param until when it runs out unless renewed
   */
  record ClaimView(
      ClaimId id,
      Mode mode,
      long token,
      long lastToken,
      Instant since,
      Instant until,
      Holder holder) {}

  /**
   * Returns the locks that are held or waited for, ordered by name.
   *
   * @param limit the largest number of locks, at least 1
   */
  CompletionStage<List<LockView>> list(int limit);

  /** Returns one lock, held or not; empty if the store has never heard of it. */
  CompletionStage<Optional<LockView>> show(String lock);

  /**
   * Ends the hold that has {@code token}, as if it had run out; its holder learns of it at its next
   * renewal. Returns whether there was such a hold.
   */
  CompletionStage<Boolean> evict(String lock, long token);

  /**
   * Makes the name a lock or semaphore of {@code kind}. This is the only way to change the kind of
   * a name, or its number of permits. The capacity of a semaphore may be changed while it is in
   * use: additional permits are handed out at once; with fewer, holders keep what they have and
   * nothing is handed out until enough permits came back, and claims in the queue that want more
   * permits than there are now lose their place. Returns false, without a change, if a lock would
   * become a semaphore, or a semaphore a lock, while somebody holds it or waits for it.
   */
  CompletionStage<Boolean> setKind(String lock, Kind kind);
}
