package io.pawl.sql.connection;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

class OwnThreadTest {

  @Test
  void p8_nothingLeftBehind_anInterruptDoesNotEndTheWaitForWhatIsUnderWay() throws Exception {
    Thread closer = Thread.currentThread();
    CountDownLatch begun = new CountDownLatch(1);
    AtomicBoolean ended = new AtomicBoolean();
    ThreadPoolExecutor thread = OwnThread.named("work");
    thread.execute(
        () -> {
          begun.countDown();
          while (closer.getState() != Thread.State.TIMED_WAITING) {
            Thread.onSpinWait();
          }
          closer.interrupt();
          LockSupport.parkNanos(200_000_000);
          ended.set(true);
        });
    begun.await();

    OwnThread.end(thread);

    assertThat(ended).isTrue();
    assertThat(Thread.interrupted()).isTrue();
  }
}
