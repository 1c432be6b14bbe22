package io.pawl.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.pawl.error.StoreUnavailableException;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Holder;
import io.pawl.spi.LockStore;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/** One client at the seam; answers are awaited, for a bounded time. */
final class Seam {

  static final Duration LEASE = Duration.ofSeconds(60);
  private static final AtomicLong clients = new AtomicLong();
  private static final Holder NOBODY = new Holder("host", 1, "thread", "", "");

  private final LockStore store;
  private final String client = "seam" + clients.incrementAndGet();
  private long number;

  Seam(LockStore store) {
    this.store = store;
  }

  Claim claim(String lock) {
    return claim(lock, LEASE, 1);
  }

  Claim claim(String lock, Duration lease, int tokens) {
    ClaimId id = new ClaimId(client, number++);
    return new Claim(
        lock, id, Mode.EXCLUSIVE, lease, Duration.ZERO, true, tokens, 0, false, NOBODY);
  }

  /** Opens an impatient store as soon as the machine lets a server answer within its time-out. */
  static RedisStore connect(String url) {
    AtomicReference<RedisStore> opened = new AtomicReference<>();
    await()
        .atMost(Duration.ofSeconds(30))
        .ignoreException(StoreUnavailableException.class)
        .until(
            () -> {
              opened.set(RedisStore.connect(url));
              return true;
            });
    return opened.get();
  }

  Standing attempt(Claim claim) {
    return answer(store.attempt(claim, standing -> {}));
  }

  Standing.Held take(Claim claim) {
    Standing standing = attempt(claim);
    assertThat(standing).isInstanceOf(Standing.Held.class);
    return (Standing.Held) standing;
  }

  Standing renew(Claim claim) {
    return answer(store.renew(List.of(claim))).getOrDefault(claim.id(), Standing.GONE);
  }

  void withdraw(Claim claim) {
    answer(store.withdraw(claim));
  }

  /** The answer, or what the stage failed with. */
  static <T> T answer(CompletionStage<T> stage) {
    try {
      return stage.toCompletableFuture().orTimeout(30, TimeUnit.SECONDS).join();
    } catch (CompletionException e) {
      throw e.getCause() instanceof RuntimeException cause ? cause : e;
    }
  }
}
