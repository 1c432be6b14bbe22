package io.pawl.bench.suite;

import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.bench.BenchException;
import io.pawl.options.LockOptions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;

/**
 * The JVM of a {@link PruneSuite}: it sells and holds locks. It says {@code alone} with takes a
 * second, p50 and p99 in µs and the longest take in ms; then prunes, and says {@code pruned} with
 * the same of meanwhile, the seconds that it took, how many operations were forgotten, how many
 * locks were lost and the age in seconds of the renewal that came latest.
 */
final class PruneFork {

  static final int LOCKS = 100;
  static final Duration LEASE = Duration.ofSeconds(3);

  private static final int THREADS = 16;
  private static final long PERIOD_NANOS = 16_000_000;
  private static final long LONGEST_NANOS = 3_600_000_000_000L;

  private final Pawl pawl;
  private final List<Lease> held = new ArrayList<>();
  private final AtomicInteger lost = new AtomicInteger();
  private volatile boolean ends;

  private PruneFork(Pawl pawl) {
    this.pawl = pawl;
  }

  /**
   * @param arguments address, milliseconds to warm up, and to sell alone
   */
  public static void main(String[] arguments) {
    int status = 0;
    try (Pawl pawl = Pawl.connect(arguments[0]);
        Pawl other = Pawl.connect(arguments[0])) {
      PruneFork fork = new PruneFork(pawl);
      fork.hold();
      fork.sell(() -> sleep(Long.parseLong(arguments[1])));
      System.out.println("alone " + fork.sell(() -> sleep(Long.parseLong(arguments[2]))));
      System.out.println("pruned " + fork.prune(other));
    } catch (InterruptedException | ExecutionException | RuntimeException e) {
      e.printStackTrace();
      status = 1;
    }
    System.exit(status);
  }

  private void hold() throws InterruptedException {
    for (int lock = 0; lock < LOCKS; lock++) {
      Lease lease = pawl.lock("held-" + lock, LockOptions.defaults().lease(LEASE)).acquire();
      lease.onLost(lost::incrementAndGet);
      held.add(lease);
    }
  }

  private String prune(Pawl other) throws InterruptedException, ExecutionException {
    double[] pruned = new double[2];
    double[] age = new double[1];
    ExecutorService pruner = Executors.newSingleThreadExecutor();
    try {
      Future<?> pruning =
          pruner.submit(
              () -> {
                long from = System.nanoTime();
                Instant yesterday = Instant.now().minus(Duration.ofDays(1));
                pruned[1] = other.counter(PruneSuite.COUNTER).ledger().prune(yesterday);
                pruned[0] = (System.nanoTime() - from) / 1e9;
              });
      String takes =
          sell(
              () -> {
                while (!pruning.isDone()) {
                  sleep(10);
                  age[0] = Math.max(age[0], renewalAgeSeconds());
                }
              });
      pruning.get();
      return takes + " " + pruned[0] + " " + pruned[1] + " " + lost.get() + " " + age[0];
    } finally {
      pruner.shutdown();
    }
  }

  private double renewalAgeSeconds() {
    long least = LEASE.toNanos();
    for (Lease lease : held) {
      least = Math.min(least, lease.remaining().toNanos());
    }
    return (LEASE.toNanos() - least) / 1e9;
  }

  /** Sells until {@code meanwhile} has ended. */
  private String sell(Runnable meanwhile) throws InterruptedException, ExecutionException {
    ends = false;
    ExecutorService sellers = Executors.newFixedThreadPool(THREADS);
    List<Future<Histogram>> each = new ArrayList<>();
    long from = System.nanoTime();
    for (int seller = 0; seller < THREADS; seller++) {
      long first = from + seller * PERIOD_NANOS / THREADS;
      each.add(sellers.submit(() -> sellFrom(first)));
    }
    meanwhile.run();
    ends = true;
    Histogram takes = new Histogram(LONGEST_NANOS, 3);
    for (Future<Histogram> seller : each) {
      takes.add(seller.get());
    }
    sellers.shutdown();
    double seconds = (System.nanoTime() - from) / 1e9;
    return takes.getTotalCount() / seconds
        + " "
        + takes.getValueAtPercentile(50) / 1e3
        + " "
        + takes.getValueAtPercentile(99) / 1e3
        + " "
        + takes.getMaxValue() / 1e6;
  }

  /** Each take counts from when it was due, so that one that waits for another counts as late. */
  private Histogram sellFrom(long first) throws InterruptedException {
    Histogram takes = new Histogram(LONGEST_NANOS, 3);
    for (long due = first; !ends; due += PERIOD_NANOS) {
      for (long left = due - System.nanoTime(); left > 0; left = due - System.nanoTime()) {
        LockSupport.parkNanos(left);
      }
      if (!pawl.counter(PruneSuite.COUNTER).tryTake(1).isApplied()) {
        throw new BenchException("a take was refused");
      }
      takes.recordValue(System.nanoTime() - due);
    }
    return takes;
  }

  private static void sleep(long millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new BenchException("interrupted", e);
    }
  }
}
