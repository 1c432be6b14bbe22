package io.pawl.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.concurrent.DaemonThreads;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class LanesTest {

  /** Else the locks of that lane would be refused at its node for ever. */
  @Test
  void p6_someoneGetsIn_thoughMemoryWasShortForTheRequestBefore() throws Exception {
    CountDownLatch served = new CountDownLatch(1);
    try (Lanes lanes = new Lanes("lanes-test-")) {
      lanes.execute(
          "lock",
          () -> {
            throw new OutOfMemoryError("for a test");
          });
      lanes.execute("lock", served::countDown);
      assertThat(served.await(10, TimeUnit.SECONDS)).isTrue();
    }
  }

  @Test
  void p6_someoneGetsIn_thoughNoThreadCouldBeStartedForTheRequestBefore() throws Exception {
    AtomicBoolean scarce = new AtomicBoolean(true);
    CountDownLatch served = new CountDownLatch(1);
    AtomicBoolean refused = new AtomicBoolean();
    try (Lanes lanes = new Lanes(task -> thread(task, scarce))) {
      assertThat(lanes.execute("lock", () -> refused.set(true))).isFalse();
      scarce.set(false);
      assertThat(lanes.execute("lock", served::countDown)).isTrue();
      assertThat(served.await(10, TimeUnit.SECONDS)).isTrue();
    }
    assertThat(refused).as("who was told no is not served later").isFalse();
  }

  private static Thread thread(Runnable task, AtomicBoolean scarce) {
    if (scarce.get()) {
      throw new OutOfMemoryError("for a test");
    }
    return DaemonThreads.named("lanes-test", task);
  }
}
