package io.pawl.composite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.pawl.Counter;
import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.options.LockOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** One thread for each of some clients, which does the same over and over while things go wrong. */
final class Crowd {

  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private interface Turn {
    void take() throws Exception;
  }

  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final List<Future<?>> running = new ArrayList<>();
  private final List<AtomicLong> turns = new ArrayList<>();
  private final AtomicLong sold = new AtomicLong();
  private volatile boolean over;

  private Crowd() {}

  /** Takes 3 and gives back 1. */
  static Crowd trading(String counter, Pawl... clients) {
    Crowd crowd = new Crowd();
    for (Pawl client : clients) {
      Counter stock = client.counter(counter);
      crowd.start(
          () -> {
            crowd.sold.addAndGet(stock.tryTake(3).isApplied() ? 3 : 0);
            crowd.sold.addAndGet(stock.add(1).isApplied() ? -1 : 0);
          });
    }
    return crowd;
  }

  /** Holds a lock, where nobody else may be, with tokens that grow. */
  static Crowd visiting(String lock, LockOptions options, Pawl... clients) {
    Crowd crowd = new Crowd();
    AtomicLong inside = new AtomicLong();
    AtomicLong last = new AtomicLong();
    for (Pawl client : clients) {
      crowd.start(
          () -> {
            try (Lease lease = client.lock(lock, options).acquire()) {
              assertThat(inside.compareAndSet(0, lease.token())).isTrue();
              assertThat(last.getAndSet(lease.token())).isLessThan(lease.token());
              inside.set(0);
            }
          });
    }
    return crowd;
  }

  private void start(Turn turn) {
    AtomicLong mine = new AtomicLong();
    turns.add(mine);
    running.add(
        threads.submit(
            () -> {
              while (!over) {
                turn.take();
                mine.incrementAndGet();
              }
              return null;
            }));
  }

  /** Returns once each thread has had its turn {@code times} more. */
  void awaitTurns(int times) {
    List<Long> before = turns.stream().map(AtomicLong::get).toList();
    await()
        .atMost(PATIENCE)
        .until(
            () -> {
              boolean all = true;
              for (int i = 0; i < turns.size(); i++) {
                all &= turns.get(i).get() >= before.get(i) + times;
              }
              return all || running.stream().anyMatch(Future::isDone);
            });
    assertThat(running).noneMatch(Future::isDone);
  }

  /** Ends, and answers how many were sold; throws what a thread threw. */
  long end() throws Exception {
    over = true;
    threads.shutdown();
    for (Future<?> one : running) {
      one.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }
    return sold.get();
  }
}
