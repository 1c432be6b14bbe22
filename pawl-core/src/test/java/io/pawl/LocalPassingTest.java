package io.pawl;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.memory.MemoryStore;
import io.pawl.options.LockOptions;
import io.pawl.options.PawlOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Real threads on one lock: they exclude each other, and nobody sleeps beside a free lock. */
class LocalPassingTest {

  private static final int ARRIVALS = 50_000;
  private static final int MANY_READERS = 5_000;
  private static final long MOST_RACING_NANOS = TimeUnit.SECONDS.toNanos(25);
  private static final LockOptions PASSING = LockOptions.defaults();
  private static final LockOptions SHORT_RUNS = PASSING.localPassing(3, Duration.ofMillis(1));
  private static final LockOptions STICKY = PASSING.sticky(Duration.ofMillis(2));
  private static final LockOptions STRICT = PASSING.strictOrder();

  private final MemoryStore store = new MemoryStore();
  private final Pawl first = Pawl.over(store, PawlOptions.defaults().releaseAtShutdown(false));
  private final Pawl second = Pawl.over(store, PawlOptions.defaults().releaseAtShutdown(false));
  private final List<Long> tokens = new ArrayList<>();

  static Stream<Arguments> crowds() {
    return Stream.of(
        Arguments.of(PASSING, 500),
        Arguments.of(SHORT_RUNS, 100),
        Arguments.of(STICKY, 500),
        Arguments.of(STRICT, 50));
  }

  @ParameterizedTest
  @MethodSource("crowds")
  void sixtyFourThreadsExcludeEachOtherUnderGrowingTokens(LockOptions options, int cycles) {
    Rounds.together(
        64,
        number -> {
          DistributedLock lock = (number % 2 == 0 ? first : second).lock("crowd", options);
          for (int i = 0; i < cycles; i++) {
            try (Lease lease = lock.acquire()) {
              tokens.add(lease.token());
            }
          }
        });
    assertThat(tokens).hasSize(64 * cycles);
    for (int i = 1; i < tokens.size(); i++) {
      assertThat(tokens.get(i)).isGreaterThan(tokens.get(i - 1));
    }
  }

  static Stream<LockOptions> ways() {
    return Stream.of(PASSING, SHORT_RUNS, STICKY, STRICT);
  }

  @ParameterizedTest
  @MethodSource("ways")
  void aReleaseThatRacesAnArrivalInTheSameClientLeavesNobodyAsleep(LockOptions options) {
    race(first, first, options, options.equals(PASSING) ? 2 * ARRIVALS : ARRIVALS / 3);
  }

  @ParameterizedTest
  @MethodSource("ways")
  void aReleaseThatRacesAnArrivalInAnotherClientLeavesNobodyAsleep(LockOptions options) {
    race(first, second, options, options.equals(STICKY) ? 500 : ARRIVALS / 3);
  }

  /**
   * Two threads hand the lock to and fro; every release starts together with the other's arrival.
   * Leases last 30 s: whoever misses a call sleeps long enough for the watchdog to see it. On a
   * starved machine, where each has to wait for the other's turn to run, fewer rounds are enough.
   */
  private void race(Pawl here, Pawl there, LockOptions options, int arrivals) {
    AtomicInteger ready = new AtomicInteger();
    AtomicInteger last = new AtomicInteger(arrivals);
    long enoughAt = System.nanoTime() + MOST_RACING_NANOS;
    Rounds.together(
        2,
        number -> {
          DistributedLock lock = (number == 0 ? here : there).lock("race", options);
          Lease held = number == 0 ? lock.acquire() : null;
          for (int round = 1; round <= last.get(); round++) {
            if (number == 0 && System.nanoTime() - enoughAt > 0) {
              last.set(round); // before both are ready, so that both see it after this round
            }
            ready.incrementAndGet();
            spinUntil(ready, 2 * round);
            if (held == null) {
              held = lock.acquire();
            } else {
              spin(round % 100);
              held.close();
              held = null;
            }
          }
          if (held != null) {
            held.close();
          }
        });
  }

  private static void spinUntil(AtomicInteger ready, int count) {
    for (int i = 1; ready.get() < count; i++) {
      if (i % 1_000 == 0) {
        Thread.yield();
      }
      Thread.onSpinWait();
    }
  }

  private static void spin(int turns) {
    for (int i = 0; i < turns; i++) {
      Thread.onSpinWait();
    }
  }

  /**
   * Whoever is called to a free hold just as it looks, in vain, is called again. It took 10 to 300
   * rounds to miss such a call.
   */
  @Test
  void p6_someoneGetsIn_asynchronousAndBlockingRequestsShareOneLine() {
    DistributedLock lock = first.lock("mixed", PASSING);
    long enoughAt = System.nanoTime() + MOST_RACING_NANOS;
    for (int round = 0; round < 500 && System.nanoTime() - enoughAt < 0; round++) {
      tokens.clear();
      Rounds.together(
          8,
          number -> {
            for (int i = 0; i < 100; i++) {
              Lease lease =
                  number % 2 == 0
                      ? lock.acquire()
                      : lock.tryAcquireAsync(Duration.ofMinutes(2)).get().orElseThrow();
              tokens.add(lease.token());
              lease.close();
            }
          });
      assertThat(tokens).hasSize(800).doesNotHaveDuplicates().isSorted();
    }
  }

  @AfterEach
  void nothingIsLeftBehind() throws Exception {
    first.close();
    second.close();
    assertThat(store.list(10).toCompletableFuture().get()).isEmpty();
  }

  /** The store answers on the thread that asks, and every second reader takes another question. */
  @Test
  void p6_someoneGetsIn_thoughEachHoldHasTokensForFewOfManyReaders() throws Exception {
    LockOptions few = PASSING.localPassing(1, Duration.ofSeconds(1));
    DistributedReadWriteLock lock = first.readWriteLock("many readers", few);
    List<CompletableFuture<Void>> readers = new ArrayList<>();
    try (Lease writer = lock.writeLock().acquire()) {
      for (int i = 0; i < MANY_READERS; i++) {
        readers.add(lock.readLock().acquireAsync().thenAccept(Lease::close));
      }
    }

    CompletableFuture.allOf(readers.toArray(CompletableFuture[]::new)).get(60, TimeUnit.SECONDS);
  }
}
