package io.pawl.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.spi.Bell;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Holder;
import io.pawl.spi.LockStore;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** One client at the seam. */
final class Seam {

  static final Duration LEASE = Duration.ofSeconds(30);

  private static final Holder NOBODY = new Holder("host", 1, "thread", "", "");

  private final LockStore store;
  private final String id = Long.toString(ThreadLocalRandom.current().nextLong(1L << 60), 36);
  private final AtomicLong numbers = new AtomicLong();

  Seam(LockStore store) {
    this.store = store;
  }

  LockStore store() {
    return store;
  }

  Claim claim(String lock) {
    return claim(lock, Mode.EXCLUSIVE, LEASE);
  }

  Claim claim(String lock, Mode mode, Duration lease) {
    ClaimId next = new ClaimId(id, numbers.getAndIncrement());
    return new Claim(lock, next, mode, lease, Duration.ZERO, true, 1, 0, false, NOBODY);
  }

  /** One that may serve others under its hold. */
  Claim claimOfMany(String lock) {
    return claimOfMany(lock, 64);
  }

  Claim claimOfMany(String lock, int tokens) {
    ClaimId next = new ClaimId(id, numbers.getAndIncrement());
    return new Claim(
        lock, next, Mode.EXCLUSIVE, LEASE, Duration.ZERO, true, tokens, 0, false, NOBODY);
  }

  /** One that knows a token of its lock. */
  Claim claimAbove(String lock, long floor) {
    ClaimId next = new ClaimId(id, numbers.getAndIncrement());
    return new Claim(
        lock, next, Mode.EXCLUSIVE, LEASE, Duration.ZERO, true, 1, floor, false, NOBODY);
  }

  Standing attempt(Claim claim) {
    return attempt(claim, standing -> {});
  }

  Standing attempt(Claim claim, Bell bell) {
    return answer(store.attempt(claim, bell));
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

  static <T> T answer(CompletionStage<T> stage) {
    try {
      CompletableFuture<T> future = stage.toCompletableFuture();
      return future.orTimeout(20, TimeUnit.SECONDS).join();
    } catch (CompletionException e) {
      throw e.getCause() instanceof RuntimeException cause ? cause : e;
    }
  }
}
