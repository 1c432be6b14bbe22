package io.pawl.sql.transaction;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.concurrent.Uninterruptibly;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class DrainLoopTest {

  /** What it uses may be half of a transaction. */
  @Test
  void p7_conservation_whoClosesTouchesNothingOfATurnThatGoesOn() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch ends = new CountDownLatch(1);
    List<String> seen = Collections.synchronizedList(new ArrayList<>());
    DrainLoop loop =
        new DrainLoop(
            () -> work.get() > 0,
            () -> {
              work.decrementAndGet();
              begun.countDown();
              Uninterruptibly.await(ends, TimeUnit.MINUTES.toNanos(1));
              seen.add("turn");
            },
            () -> {},
            true,
            "test");
    work.set(2);
    Thread worker = new Thread(loop::take);
    worker.start();
    begun.await();

    loop.close(
        () -> seen.add("last"),
        () -> {
          seen.add("cut");
          ends.countDown();
        });
    worker.join();

    assertThat(seen).startsWith("cut").doesNotContain("last").contains("turn");
    assertThat(work).as("what was left").hasValue(0);
  }

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
