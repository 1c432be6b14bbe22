package io.pawl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.pawl.concurrent.SystemTime;
import io.pawl.concurrent.Time;
import io.pawl.concurrent.Workers;
import io.pawl.engine.Engine;
import io.pawl.engine.Engines;
import io.pawl.options.LockOptions;
import io.pawl.options.PawlOptions;
import io.pawl.spi.LockStore;
import io.pawl.spi.Standing;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A wait has one bound, its own and the time that a store may be silent, however it ends. */
class LateInterruptTest {

  private static final Duration ANSWER = Duration.ofMinutes(10);
  private static final Duration WAIT = Duration.ofMillis(1);
  private static final Set<Thread.State> PARKED =
      Set.of(Thread.State.WAITING, Thread.State.TIMED_WAITING);

  private static final Duration LEASE = Duration.ofHours(1);

  private Supplier<CompletableFuture<Standing>> attempt = CompletableFuture::new;
  private final ExecutorService pool = Executors.newCachedThreadPool();
  private final SystemTime real = new SystemTime("late-interrupt");
  private final AtomicLong passed = new AtomicLong();
  private final CompletableFuture<Thread> waiting = new CompletableFuture<>();
  private final Engine engine =
      new Engine(
          silent(),
          PawlOptions.defaults(),
          new Time() {
            @Override
            public long nanos() {
              return real.nanos() + passed.get();
            }

            @Override
            public Pending after(long delayNanos, Runnable task) {
              return real.after(delayNanos, task);
            }
          },
          Workers.on(pool, pool),
          new Random(1),
          "client");

  @AfterEach
  void close() {
    pool.shutdownNow();
    real.close();
  }

  /** It neither answers nor confirms. */
  private LockStore silent() {
    return Engines.memory(
        (verb, usual) ->
            switch (verb) {
              case "answerTime" -> ANSWER;
              case "attempt" -> attempt.get();
              case "withdraw" -> new CompletableFuture<>();
              default -> usual.call();
            });
  }

  /** Interrupted just before it would have ended anyway. */
  private void endsInTime(Callable<?> wait) throws Exception {
    Future<?> waiter =
        pool.submit(
            () -> {
              waiting.complete(Thread.currentThread());
              return wait.call();
            });
    Thread thread = waiting.get(1, TimeUnit.MINUTES);
    await().until(() -> PARKED.contains(thread.getState()));
    passed.addAndGet(ANSWER.toNanos());
    thread.interrupt();

    assertThatThrownBy(() -> waiter.get(1, TimeUnit.MINUTES))
        .isInstanceOf(ExecutionException.class)
        .hasCauseInstanceOf(InterruptedException.class);
  }

  @Test
  void ofALock() throws Exception {
    DistributedLock lock = new DistributedLock(engine, "lock", LockOptions.defaults());
    endsInTime(() -> lock.tryAcquire(WAIT));
  }

  @Test
  void ofAGroup() throws Exception {
    LockGroup group = new LockGroup(engine, List.of("one", "two"), LockOptions.defaults());
    endsInTime(() -> group.tryAcquire(WAIT));
  }

  /** Of which the store is told in vain. */
  @Test
  void ofAGroupThatWasGrantedAtThatMoment() {
    LockGroup group = new LockGroup(engine, List.of("one"), LockOptions.defaults().lease(LEASE));
    attempt =
        () -> {
          passed.addAndGet(ANSWER.toNanos());
          Thread.currentThread().interrupt();
          return CompletableFuture.completedFuture(new Standing.Held(1, 1));
        };

    assertThat(CompletableFuture.runAsync(() -> ends(group), pool))
        .succeedsWithin(Duration.ofMinutes(1));
  }

  private static void ends(LockGroup group) {
    assertThatThrownBy(() -> group.tryAcquire(WAIT)).isInstanceOf(InterruptedException.class);
  }
}
