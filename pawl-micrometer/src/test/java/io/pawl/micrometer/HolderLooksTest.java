package io.pawl.micrometer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class HolderLooksTest {

  private static final Duration AFTER = Duration.ofMillis(50);
  private static final Duration LONG = Duration.ofMinutes(1);
  private static final TraceNote HOLDER = new TraceNote("a".repeat(32), "b".repeat(16), true);

  private final AtomicInteger numberOfLooks = new AtomicInteger();
  private final HolderLooks looks =
      new HolderLooks(
          AFTER,
          System::nanoTime,
          lock -> {
            numberOfLooks.incrementAndGet();
            return List.of(HOLDER);
          });

  @AfterEach
  void close() {
    looks.close();
  }

  @Test
  void aLockThatIsWaitedForIsNotForgottenForOthers() {
    looks.begin("hot");
    for (int i = 0; i < 2_000; i++) {
      looks.begin("cold-" + i);
      looks.end("cold-" + i);
    }
    looks.begin("hot");
    looks.end("hot"); // the first of both

    await().until(() -> looks.seen("hot", LONG).contains(HOLDER));
    assertThat(looks.size()).isLessThanOrEqualTo(1_000);
  }

  @Test
  void whoBeginsToWaitBehindAnOldWaitIsLookedForAsSoon() {
    looks.begin("hot");
    await().until(() -> numberOfLooks.get() >= 4 && looks.untilLook("hot").compareTo(AFTER) > 0);

    looks.begin("hot");

    assertThat(looks.untilLook("hot")).isLessThanOrEqualTo(AFTER);
  }

  /** As an observer may hear of them. */
  @Test
  void anEndThatComesBeforeItsBeginningLeavesNobodyWaiting() {
    looks.end("quick");
    looks.begin("quick");

    assertThat(looks.untilLook("quick")).isZero();
  }

  @Test
  void locksWithoutNumberAreNotKept() {
    for (int i = 0; i < 10_500; i++) {
      looks.begin("waited-" + i);
    }
    assertThat(looks.size()).isLessThanOrEqualTo(10_000);
  }
}
