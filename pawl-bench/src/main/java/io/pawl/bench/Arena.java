package io.pawl.bench;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * One process's share of a run: threads that take and release locks without pause, first to warm
 * up, then measured. A wait counts if it ends in the measured time or is still going on at its end,
 * so that a thread which is never served shows; a grant counts if it falls into that time.
 */
final class Arena {

  private static final long LONGEST_WAIT_NANOS = TimeUnit.MINUTES.toNanos(2);
  private static final long DRAIN_NANOS = TimeUnit.SECONDS.toNanos(30);

  private enum Phase {
    WARM_UP,
    MEASURE,
    OVER
  }

  private final Rival.Client client;
  private final Load load;
  private final int jvm;
  private final Board board;
  private final CountDownLatch ready;
  private final CountDownLatch start = new CountDownLatch(1);
  private final CountDownLatch stop = new CountDownLatch(1);
  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
  private final List<Runner> runners = new ArrayList<>();
  private volatile Phase phase = Phase.WARM_UP;

  Arena(Rival.Client client, Load load, int jvm, Board board) {
    this.client = client;
    this.load = load;
    this.jvm = jvm;
    this.board = board;
    this.ready = new CountDownLatch(load.threads());
  }

  /** Starts the threads and returns when each has its locks; they wait for {@link #run}. */
  void prepare() throws InterruptedException {
    for (int thread = 0; thread < load.threads(); thread++) {
      Runner runner = new Runner(thread);
      runners.add(runner);
      runner.start();
    }
    ready.await();
    throwFailure();
  }

  /** Lets them run. */
  Tally run(long warmUpMillis, long millis) throws InterruptedException {
    start.countDown();
    pause(warmUpMillis);
    long cpuBefore = cpuNanos();
    long from = System.nanoTime();
    phase = Phase.MEASURE;
    pause(millis);
    phase = Phase.OVER;
    long nanos = System.nanoTime() - from;
    long cpu = cpuNanos() - cpuBefore;
    long giveUpAt = System.nanoTime() + DRAIN_NANOS;
    for (Runner runner : runners) {
      TimeUnit.NANOSECONDS.timedJoin(runner, Math.max(1, giveUpAt - System.nanoTime()));
      throwFailure();
      if (runner.isAlive()) {
        throw new BenchException(runner.getName() + " still waits 30 s after the end");
      }
    }
    return tally(nanos, cpu);
  }

  private void pause(long millis) throws InterruptedException {
    if (stop.await(millis, TimeUnit.MILLISECONDS)) {
      throwFailure();
    }
  }

  private void throwFailure() {
    Throwable cause = failure.get();
    if (cause instanceof ExclusionViolation violation) {
      throw violation;
    }
    if (cause != null) {
      throw new BenchException("a thread failed: " + cause, cause);
    }
  }

  private Tally tally(long nanos, long cpuNanos) {
    Histogram waits = newHistogram();
    long[] grants = new long[load.threads()];
    long cycles = 0;
    for (Runner runner : runners) {
      waits.add(runner.waits);
      grants[runner.number] = runner.grants;
      cycles += runner.cycles;
    }
    return new Tally(nanos, cpuNanos, cycles, grants, waits);
  }

  /** Two digits keep it at 30 kB, small enough beside the caches with 64 threads. */
  private static Histogram newHistogram() {
    return new Histogram(LONGEST_WAIT_NANOS, 2);
  }

  private static long cpuNanos() {
    return ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getProcessCpuTime();
  }

  private final class Runner extends Thread {

    final int number;
    final Histogram waits = newHistogram();
    long grants;
    long cycles;

    Runner(int number) {
      super("bench-" + jvm + "-" + number);
      this.number = number;
      setDaemon(true);
    }

    @Override
    public void run() {
      List<Rival.Turn> turns = new ArrayList<>();
      try {
        int[] locks = load.locksOf(jvm, number);
        try {
          for (int lock : locks) {
            turns.add(client.lock("bench-" + lock));
          }
        } finally {
          ready.countDown();
        }
        start.await();
        compete(locks, turns);
      } catch (Throwable e) {
        failure.compareAndSet(null, e);
        stop.countDown();
        phase = Phase.OVER;
      } finally {
        turns.forEach(Rival.Turn::close);
      }
    }

    private void compete(int[] locks, List<Rival.Turn> turns) throws InterruptedException {
      long signature = Board.signature(jvm, number);
      while (phase != Phase.OVER) {
        int choice = Load.next(locks.length);
        Rival.Turn turn = turns.get(choice);
        long asked = System.nanoTime();
        long token = turn.acquire();
        long waited = System.nanoTime() - asked;
        Phase now = phase;
        board.enter(locks[choice], signature, token);
        board.leave(locks[choice], signature);
        turn.release();
        cycles++;
        if (now != Phase.WARM_UP) {
          waits.recordValue(Math.min(waited, LONGEST_WAIT_NANOS));
        }
        if (now == Phase.MEASURE) {
          grants++;
        }
      }
    }
  }
}
