package io.pawl.zookeeper;

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
import java.util.function.Supplier;

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

  /** Takes no place in the queue. */
  Claim impatient(String lock) {
    return impatient(lock, Mode.EXCLUSIVE);
  }

  /** Wants one permit of {@code capacity}, and takes no place in the queue. */
  Claim impatient(String lock, int capacity) {
    return impatient(lock, new Mode.Permits(1, capacity));
  }

  private Claim impatient(String lock, Mode mode) {
    ClaimId id = new ClaimId(client, number++);
    return new Claim(lock, id, mode, LEASE, Duration.ZERO, false, 1, 0, false, NOBODY);
  }

  Claim permits(String lock, int wanted, int capacity) {
    ClaimId id = new ClaimId(client, number++);
    Mode mode = new Mode.Permits(wanted, capacity);
    return new Claim(lock, id, mode, LEASE, Duration.ZERO, true, 1, 0, false, NOBODY);
  }

  Claim lasting(String lock, Duration minHold) {
    return claim(lock).withMinHold(minHold);
  }

  /** Connects as soon as the machine lets a server answer within the time-out of {@code url}. */
  static ZooKeeperStore connect(String url) {
    return untilItAnswers(() -> ZooKeeperStore.connect(url));
  }

  /** Repeats a verb until the service answers it. */
  static <T> T untilItAnswers(Supplier<T> verb) {
    AtomicReference<T> answer = new AtomicReference<>();
    await()
        .atMost(Duration.ofSeconds(30))
        .ignoreException(StoreUnavailableException.class)
        .until(
            () -> {
              answer.set(verb.get());
              return true;
            });
    return answer.get();
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
    Standing standing = answer(store.renew(List.of(claim))).get(claim.id());
    if (standing == null) {
      throw new StoreUnavailableException("left out of the answer");
    }
    return standing;
  }

  boolean withdraw(Claim claim) {
    answer(store.withdraw(claim));
    return true;
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
