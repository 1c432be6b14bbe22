package io.pawl.spi;

import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** A store that can say what is in it, and be corrected. No lock is ever decided by it. */
public interface Inspectable {

  /**
   * A lock as it stands: holders in the order of their grants, waiters in line.
   *
   * @param kind null where no claim has been granted yet, as far as the store remembers
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
   * @param since when it was granted, or stood in line
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
   * Locks that are held or waited for, ordered by name.
   *
   * @param limit at most so many, at least 1
   */
  CompletionStage<List<LockView>> list(int limit);

  /** One lock, held or not; empty where the store has never heard of it. */
  CompletionStage<Optional<LockView>> show(String lock);

  /**
   * Ends the hold that has {@code token}, as if it had run out; its holder learns at its next
   * renewal. Answers whether there was one.
   */
  CompletionStage<Boolean> evict(String lock, long token);

  /**
   * Makes a lock of {@code kind}: the one way to change what the name stands for, or how many
   * permits it has. A semaphore may be changed while it is in use: more permits are handed out at
   * once; with fewer, holders keep what they have and nothing is handed out until enough came back,
   * while claims in line that want more than there are now lose their place. Answers false, having
   * changed nothing, where a lock would become a semaphore, or a semaphore a lock, and somebody
   * holds it or waits for it.
   */
  CompletionStage<Boolean> setKind(String lock, Kind kind);
}
