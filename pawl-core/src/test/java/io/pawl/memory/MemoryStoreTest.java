package io.pawl.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Claims;
import io.pawl.spi.Holder;
import io.pawl.spi.Kind;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** What a store in memory keeps. */
class MemoryStoreTest {

  private static final int LOCKS = 1_000;

  private final AtomicLong nanos = new AtomicLong();
  private final MemoryStore store = new MemoryStore(nanos::get);

  private static Claim claim(String lock, int number) {
    return claim(lock, number, Duration.ofSeconds(1), false);
  }

  private static Claim claim(String lock, int number, Duration minHold, boolean queues) {
    return new Claim(
        lock,
        new ClaimId("client", number),
        Mode.EXCLUSIVE,
        Duration.ofSeconds(10),
        minHold,
        queues,
        1,
        0,
        false,
        new Holder("host", 1, "thread", "", ""));
  }

  private void takeAndGiveBack(Claim claim) {
    store.attempt(claim, held -> {}).toCompletableFuture().join();
    store.withdraw(claim).toCompletableFuture().join();
  }

  /** Of a lock that is taken and given back at once. */
  private long token(String lock, int number) {
    Claim claim = claim(lock, number, Duration.ZERO, false);
    Standing standing = store.attempt(claim, held -> {}).toCompletableFuture().join();
    store.withdraw(claim).toCompletableFuture().join();
    return ((Standing.Held) standing).token();
  }

  @Test
  void locksThatNobodyAsksForAnyMoreAreForgottenWhenTheirShortestHoldsAreOver() {
    for (int i = 0; i < LOCKS; i++) {
      takeAndGiveBack(claim("order-" + i, i));
    }
    assertThat(store.size()).isEqualTo(LOCKS);
    nanos.addAndGet(TimeUnit.SECONDS.toNanos(2));

    for (int i = 0; i < 8 * LOCKS; i++) {
      takeAndGiveBack(claim("another", LOCKS + i));
    }

    assertThat(store.size()).isEqualTo(1);
  }

  @Test
  void tokensGrowAlsoWhenALockWasForgottenForManyUsedSince() {
    long before = 0;
    for (int i = 0; i < 10; i++) {
      before = token("order", i);
    }
    for (int i = 0; i < 11_000; i++) { // more than are remembered
      token("order-" + i, 10 + i);
    }

    assertThat(store.show("order").toCompletableFuture().join()).isEmpty();
    assertThat(token("order", 20_000)).isGreaterThan(before);
  }

  @Test
  void theKindsOfTheLastTenThousandIdleLocksAreKnown() {
    for (int i = 0; i <= 10_000; i++) {
      store.setKind("order-" + i, Kind.semaphore(7)).toCompletableFuture().join();
    }

    assertThat(store.show("order-0").toCompletableFuture().join()).isEmpty();
    for (int i = 1; i <= 10_000; i++) {
      Claim claim = claim("order-" + i, i);
      assertThat(store.attempt(claim, held -> {}).toCompletableFuture().join())
          .as(claim.lock())
          .isEqualTo(new Standing.OtherKind(Kind.semaphore(7)));
    }
  }

  @Test
  void aLockThatHadManyWaitersKeepsItsKindAndItsTokensWhenItIsIdle() {
    long before = token("order", 0);
    for (int i = 1; i <= 100; i++) {
      store
          .attempt(claim("order", i, Duration.ZERO, true), held -> {})
          .toCompletableFuture()
          .join();
    }
    nanos.addAndGet(TimeUnit.MINUTES.toNanos(60));
    for (int i = 0; i < 8; i++) {
      token("another", 1_000 + i);
    }

    assertThat(store.show("order").toCompletableFuture().join())
        .hasValueSatisfying(view -> assertThat(view.kind()).isEqualTo(Kind.LOCK));
    assertThat(token("order", 2_000)).isGreaterThan(before);
  }

  @Test
  void namedStoresThatNobodyOpensAnyMoreAreForgottenWhenTheirLastHoldsHaveRunOut() {
    NamedMemories memories = new NamedMemories();
    for (int i = 0; i < 10; i++) {
      MemoryStore left = memories.open("job-" + i);
      left.attempt(Claims.exclusive(i), held -> {}).toCompletableFuture().join();
      left.close();
    }
    assertThat(memories.size()).isEqualTo(10);

    Awaitility.await()
        .untilAsserted(
            () -> {
              memories.open("another").close();
              assertThat(memories.size()).isZero();
            });
  }
}
