package io.pawl.concurrent;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

class SystemTimeTest {

  @Test
  void p8_nothingLeftBehind_aTimedTaskUnderWayHasEndedWhenItsClientIsClosed() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    AtomicBoolean ended = new AtomicBoolean();
    SystemTime time = new SystemTime("timer");
    time.after(
        0,
        () -> {
          begun.countDown();
          while (!Thread.currentThread().isInterrupted()) {
            LockSupport.park();
          }
          long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(200);
          while (System.nanoTime() - until < 0) {
            Thread.onSpinWait();
          }
          ended.set(true);
        });
    assertThat(begun.await(20, TimeUnit.SECONDS)).isTrue();

    time.close();

    assertThat(ended).isTrue();
  }
}
