package io.pawl.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Claims;
import io.pawl.spi.Holder;
import io.pawl.spi.Mode;
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
    return new Claim(
        lock,
        new ClaimId("client", number),
        Mode.EXCLUSIVE,
        Duration.ofSeconds(10),
        Duration.ofSeconds(1),
        false,
        1,
        0,
        false,
        new Holder("host", 1, "thread", "", ""));
  }

  private void takeAndGiveBack(Claim claim) {
    store.attempt(claim, held -> {}).toCompletableFuture().join();
    store.withdraw(claim).toCompletableFuture().join();
  }

  @Test
  void locksThatNobodyAsksForAnyMoreAreForgottenWhenTheirShortestHoldsAreOver() {
    for (int i = 0; i < LOCKS; i++) {
      takeAndGiveBack(claim("order-" + i, i));
    }
    assertThat(store.size()).isEqualTo(LOCKS);
    nanos.addAndGet(TimeUnit.SECONDS.toNanos(2));

    for (int i = 0; i < LOCKS; i++) {
      takeAndGiveBack(claim("another", LOCKS + i));
    }

    assertThat(store.size()).isEqualTo(1);
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
