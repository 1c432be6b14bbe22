package io.pawl.bench.contest;

import com.sun.management.OperatingSystemMXBean;
import io.pawl.bench.BenchException;
import io.pawl.bench.VirtualThreads;
import io.pawl.bench.rival.Rival;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * One process's share of a run: threads that take and release locks without pause, first to warm
 * up, then measured. A wait counts if it ends in the measured time or is still going on at its end,
 * so that a thread which is never served shows; a grant counts if it falls into that time.
 */
final class Arena {

  private static final long LONGEST_WAIT_NANOS = TimeUnit.MINUTES.toNanos(2);

  /** A rival that missed its wake-up looks again when the lease that it saw ends, after 30 s. */
  private static final long DRAIN_NANOS = TimeUnit.SECONDS.toNanos(90);

  private static final long WORK_NANOS = TimeUnit.SECONDS.toNanos(50);

  /** So many may run their code for the first time side by side, and still be answered in time. */
  private static final int MOST_COLD_JVMS = 20;

  private enum Phase {
    WARM_UP,
    MEASURE,
    OVER
  }

  private final Rival.Client client;
  private final Load load;
  private final int jvm;
  private final boolean virtualThreads;
  private final Board board;
  private final ContestSuite.Resource resource;
  private final CountDownLatch ready;
  private final CountDownLatch start = new CountDownLatch(1);
  private final CountDownLatch warm;
  private final CountDownLatch work = new CountDownLatch(1);
  private final CountDownLatch stop = new CountDownLatch(1);
  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
  private final List<Runner> runners = new ArrayList<>();
  private final boolean handsOff;

  /** Made before the warm-up: it reads files, by code that a store's client shares. */
  private final OperatingSystemMXBean process =
      ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);

  private volatile Phase phase = Phase.WARM_UP;

  Arena(
      Rival.Client client,
      Load load,
      int jvm,
      boolean virtualThreads,
      Board board,
      ContestSuite.Resource resource) {
    this.client = client;
    this.load = load;
    this.jvm = jvm;
    this.virtualThreads = virtualThreads;
    this.board = board;
    this.resource = resource;
    this.ready = new CountDownLatch(load.threads());
    this.handsOff = load.handOffs() || load.jvms() > 1;
    this.warm = new CountDownLatch(load.threads());
  }

  /**
   * Starts the threads and returns when each has its locks; they wait for {@link #run}. Where there
   * are many JVMs each has had its first lease by then.
   */
  void prepare() throws InterruptedException {
    for (int thread = 0; thread < load.threads(); thread++) {
      Runner runner = new Runner(thread);
      runners.add(runner);
      runner.thread.start();
    }
    ready.await();
    throwFailure();
    if (load.jvms() > MOST_COLD_JVMS) {
      try (Rival.Turn turn = client.lock("first-of-" + jvm)) {
        turn.acquire();
        turn.release();
      }
    }
  }

  /** Lets them run. */
  Tally run(long warmUpMillis, long millis) throws InterruptedException {
    if (load.cycles() > 0) {
      return runToTheEnd(warmUpMillis);
    }
    start.countDown();
    pause(warmUpMillis);
    long cpuBefore = process.getProcessCpuTime();
    long from = System.nanoTime();
    phase = Phase.MEASURE;
    pause(millis);
    phase = Phase.OVER;
    long nanos = System.nanoTime() - from;
    long cpu = process.getProcessCpuTime() - cpuBefore;
    join(DRAIN_NANOS);
    return tally(nanos, cpu);
  }

  /** A burst of one cycle a thread comes as it comes, without warm-up. */
  private Tally runToTheEnd(long warmUpMillis) throws InterruptedException {
    if (load.cycles() == 1) {
      phase = Phase.MEASURE;
    }
    start.countDown();
    if (load.cycles() > 1) {
      pause(warmUpMillis);
      phase = Phase.MEASURE;
    }
    if (!warm.await(DRAIN_NANOS, TimeUnit.NANOSECONDS)) {
      throwFailure();
      throw new BenchException(
          "a thread still waits " + DRAIN_NANOS / 1_000_000_000 + " s after the warm-up");
    }
    long cpuBefore = process.getProcessCpuTime();
    long from = System.nanoTime();
    work.countDown();
    join(WORK_NANOS);
    return tally(System.nanoTime() - from, process.getProcessCpuTime() - cpuBefore);
  }

  private void join(long patienceNanos) throws InterruptedException {
    long giveUpAt = System.nanoTime() + patienceNanos;
    for (Runner runner : runners) {
      TimeUnit.NANOSECONDS.timedJoin(runner.thread, Math.max(1, giveUpAt - System.nanoTime()));
      throwFailure();
      if (runner.thread.isAlive()) {
        throw new BenchException(
            runner.thread.getName() + " is not done after " + patienceNanos / 1_000_000_000 + " s");
      }
    }
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
    Histogram waits = Tally.newHistogram();
    Histogram writerWaits = Tally.newHistogram();
    Histogram handOffs = Tally.newHistogram();
    Histogram jvmHandOffs = Tally.newHistogram();
    long[] grants = new long[load.threads()];
    long cycles = 0;
    for (Runner runner : runners) {
      Figures measured = runner.of(Phase.MEASURE);
      Figures after = runner.of(Phase.OVER);
      for (Figures figures : List.of(measured, after)) {
        waits.add(figures.waits);
        writerWaits.add(figures.writerWaits);
      }
      handOffs.add(measured.handOffs);
      jvmHandOffs.add(measured.jvmHandOffs);
      grants[runner.number] = measured.cycles;
      cycles += runner.of(Phase.WARM_UP).cycles + measured.cycles + after.cycles;
    }
    return new Tally(nanos, cpuNanos, cycles, grants, waits, writerWaits, handOffs, jvmHandOffs);
  }

  private Thread thread(String name, Runnable work) {
    if (virtualThreads) {
      return VirtualThreads.unstarted(name, work);
    }
    Thread thread = new Thread(work, name);
    thread.setDaemon(true);
    return thread;
  }

  /** What a thread saw in one phase. */
  private final class Figures {

    final Histogram waits;
    final Histogram writerWaits;

    /** From one holder's release to the next holder's grant. */
    final Histogram handOffs;

    final Histogram jvmHandOffs;
    long cycles;

    Figures(Phase phase) {
      boolean counts = phase == Phase.MEASURE;
      waits = histogram(counts);
      writerWaits = histogram(counts && load.readPercent() > 0);
      handOffs = histogram(counts && handsOff);
      jvmHandOffs = histogram(counts && handsOff);
    }

    /** One that counts has its size from the start: to grow it would leave compiled code. */
    private static Histogram histogram(boolean counts) {
      return counts ? new Histogram(LONGEST_WAIT_NANOS, 2) : Tally.newHistogram();
    }
  }

  /**
   * Does the same in each phase, since what the compiler sees first at the measured one is cold.
   */
  private final class Runner {

    final int number;
    final Thread thread;
    private final Figures[] figures;

    Runner(int number) {
      this.number = number;
      figures = Stream.of(Phase.values()).map(Figures::new).toArray(Figures[]::new);
      thread = thread("bench-" + jvm + "-" + number, this::run);
    }

    Figures of(Phase phase) {
      return figures[phase.ordinal()];
    }

    private void run() {
      List<Rival.Turn> turns = new ArrayList<>();
      List<Rival.Turn> readTurns = new ArrayList<>();
      try {
        int[] locks = load.locksOf(jvm, number);
        try {
          for (int lock : locks) {
            turns.add(client.lock("bench-" + lock));
            if (load.readPercent() > 0) {
              readTurns.add(client.readLock("bench-" + lock));
            }
          }
        } finally {
          ready.countDown();
        }
        start.await();
        long signature = Board.signature(jvm, number);
        if (load.cycles() == 0) {
          while (phase != Phase.OVER) {
            cycle(locks, turns, readTurns, signature);
          }
        } else {
          doWork(locks, turns, readTurns, signature);
        }
      } catch (Throwable e) {
        failure.compareAndSet(null, e);
        stop.countDown();
        phase = Phase.OVER;
      } finally {
        warm.countDown();
        turns.forEach(Rival.Turn::close);
        readTurns.forEach(Rival.Turn::close);
      }
    }

    private void doWork(
        int[] locks, List<Rival.Turn> turns, List<Rival.Turn> readTurns, long signature)
        throws InterruptedException {
      while (phase == Phase.WARM_UP) {
        cycle(locks, turns, readTurns, signature);
      }
      warm.countDown();
      work.await();
      for (int done = 0; done < load.cycles() && phase == Phase.MEASURE; done++) {
        cycle(locks, turns, readTurns, signature);
      }
    }

    private void cycle(
        int[] locks, List<Rival.Turn> turns, List<Rival.Turn> readTurns, long signature)
        throws InterruptedException {
      int choice = Load.next(locks.length);
      int lock = locks[choice];
      boolean reads = load.nextReads();
      Rival.Turn turn = (reads ? readTurns : turns).get(choice);
      long asked = System.nanoTime();
      long token = turn.acquire();
      long got = System.nanoTime();
      Figures seen = of(phase);
      if (reads || load.permits() > 1) {
        board.enterShared(lock, signature, reads ? Integer.MAX_VALUE : load.permits());
        board.leaveShared(lock, signature);
      } else {
        board.enter(lock, signature, token);
        resource.modify(lock);
        if (handsOff) {
          noteHandOff(lock, got, seen);
        }
        board.leave(lock, signature);
      }
      turn.release();
      seen.cycles++;
      long wait = Math.min(got - asked, LONGEST_WAIT_NANOS);
      seen.waits.recordValue(wait);
      if (!reads && load.readPercent() > 0) {
        seen.writerWaits.recordValue(wait);
      }
    }

    private void noteHandOff(int lock, long got, Figures seen) {
      long nanos = Math.min(board.nanosSinceLeft(lock, got), LONGEST_WAIT_NANOS);
      if (nanos >= 0) {
        seen.handOffs.recordValue(nanos);
        if (board.wasLeftByOther(lock, jvm)) {
          seen.jvmHandOffs.recordValue(nanos);
        }
      }
      board.leaving(lock, jvm, System.nanoTime());
    }
  }
}
