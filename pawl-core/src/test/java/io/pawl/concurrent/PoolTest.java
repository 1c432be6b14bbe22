package io.pawl.concurrent;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whoever waits for a task waits for one that is run. */
class PoolTest {

  private final AtomicInteger failures = new AtomicInteger();
  private final Queue<Runnable> later = new ArrayDeque<>();
  private final Time time =
      new Time() {
        @Override
        public long nanos() {
          return System.nanoTime();
        }

        @Override
        public Pending after(long delayNanos, Runnable task) {
          later.add(task);
          return () -> later.remove(task);
        }
      };

  private Pool pool(boolean bounded) {
    ThreadFactory threads =
        task -> {
          if (failures.getAndDecrement() > 0) {
            throw new OutOfMemoryError("scripted: no native thread");
          }
          return DaemonThreads.named("pool", task);
        };
    return bounded ? Pool.of(2, threads, time) : Pool.unbounded(threads, time);
  }

  private static CompletableFuture<String> run(Pool pool) {
    CompletableFuture<String> done = new CompletableFuture<>();
    pool.execute(() -> done.complete(Thread.currentThread().getName()));
    return done;
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void whatNoThreadCouldBeStartedForIsTriedAgain(boolean bounded) throws Exception {
    Pool pool = pool(bounded);
    failures.set(7);
    List<CompletableFuture<String>> all = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      all.add(run(pool));
    }
    assertThat(later).hasSize(1);
    for (int i = 0; i < 3; i++) {
      later.remove().run();
    }
    for (CompletableFuture<String> one : all) {
      assertThat(one.get(20, SECONDS)).isEqualTo("pool");
    }
    assertThat(later).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void whoeverComesNextHasItRunToo(boolean bounded) throws Exception {
    Pool pool = pool(bounded);
    failures.set(1);
    CompletableFuture<String> first = run(pool);

    assertThat(run(pool).get(20, SECONDS)).isEqualTo("pool");

    assertThat(first.get(20, SECONDS)).isEqualTo("pool");
  }

  @Test
  void aThreadThatThereIsRunsItWhileNoOtherCanBeStarted() throws Exception {
    Pool pool = pool(true);
    assertThat(run(pool).get(20, SECONDS)).isEqualTo("pool");
    failures.set(Integer.MAX_VALUE);

    assertThat(run(pool).get(20, SECONDS)).isEqualTo("pool");
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void whatComesAfterTheEndIsRunThoughNoThreadCanBeStarted(boolean bounded) throws Exception {
    Pool pool = pool(bounded);
    failures.set(1);
    CompletableFuture<String> kept = run(pool);
    failures.set(1);

    pool.close();

    assertThat(kept).isCompletedWithValue(Thread.currentThread().getName());
    assertThat(run(pool).get(20, SECONDS)).isEqualTo("pool");
    failures.set(1_000);
    CompletableFuture<String> late = run(pool);
    assertThat(late.get(20, SECONDS)).isIn("pool", Thread.currentThread().getName());
  }
}
