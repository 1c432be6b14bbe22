package io.pawl.sql.transaction;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class DrainLoopTest {

  private final AtomicInteger work = new AtomicInteger();

  @Test
  void whatNoThreadCanBeStartedForIsDoneByTheCaller() {
    ThreadFactory exhausted =
        task -> {
          throw new OutOfMemoryError("unable to create native thread, on purpose");
        };
    try (DrainLoop loop =
        new DrainLoop(
            () -> work.get() > 0,
            work::decrementAndGet,
            () -> {},
            true,
            new ThreadPoolExecutor(
                1, 1, 1, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), exhausted))) {
      work.set(3);
      loop.take();
      assertThat(work).hasValue(0);
    }
  }
}
