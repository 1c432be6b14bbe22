package io.pawl.quorum;

import io.pawl.concurrent.Time;
import io.pawl.spi.ClaimId;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Looks again at holders whose nodes have different tokens. Either these are about to agree, and
 * the holder has not been told any: a prompt trip later they have. Or a renewal has taken nodes
 * back: then they stay as they are.
 */
final class SecondLook implements AutoCloseable {

  private static final int MOST_LOOKS = 4;

  private final Time time;
  private final long pauseNanos;
  private final Set<CompletableFuture<Void>> pauses = ConcurrentHashMap.newKeySet();
  private volatile boolean closed;

  SecondLook(Time time, long pauseNanos) {
    this.time = time;
    this.pauseNanos = pauseNanos;
  }

  /**
   * Completes with what a look has shown once nothing is open, or what is open has stayed so. One
   * look mostly, four at most.
   *
   * @param open holders whose nodes differ, and the tokens that they would be shown under
   */
  <T> CompletionStage<T> after(
      Supplier<CompletionStage<T>> look, Function<T, Map<ClaimId, Long>> open) {
    return after(look, open, Map.of(), MOST_LOOKS);
  }

  private <T> CompletionStage<T> after(
      Supplier<CompletionStage<T>> look,
      Function<T, Map<ClaimId, Long>> open,
      Map<ClaimId, Long> before,
      int looks) {
    return look.get()
        .thenCompose(
            seen -> {
              Map<ClaimId, Long> now = open.apply(seen);
              return looks == 1 || before.entrySet().containsAll(now.entrySet())
                  ? CompletableFuture.completedFuture(seen)
                  : pause().thenCompose(over -> after(look, open, now, looks - 1));
            });
  }

  private CompletionStage<Void> pause() {
    CompletableFuture<Void> pause = new CompletableFuture<>();
    pauses.add(pause);
    time.after(pauseNanos, () -> end(pause));
    if (closed) {
      end(pause);
    }
    return pause;
  }

  private void end(CompletableFuture<Void> pause) {
    pauses.remove(pause);
    pause.complete(null);
  }

  /** Who pauses looks at once, and is told that the store is closed. */
  @Override
  public void close() {
    closed = true;
    pauses.forEach(this::end);
  }
}
