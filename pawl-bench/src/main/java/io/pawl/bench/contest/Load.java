package io.pawl.bench.contest;

import java.util.concurrent.ThreadLocalRandom;

/**
 * Who asks for what.
 *
 * @param jvms processes on the one store
 * @param threads of each process
 * @param locks names in all
 * @param pick how a thread chooses among them
 * @param cycles of each thread, 0 to go on until the time is over
 * @param writes whether each holder reads and writes a row of the suite's {@link
 *     ContestSuite#resource}
 * @param permits how many may be inside at once: 1 for a lock
 * @param readPercent how many of 100 cycles read, in any number at once; the others write, alone
 * @param handOffs whether the time from each holder to the next is measured, not only from one
 *     process's to another's
 */
public record Load(
    int jvms,
    int threads,
    int locks,
    Pick pick,
    int cycles,
    boolean writes,
    int permits,
    int readPercent,
    boolean handOffs) {

  /** How a thread chooses a lock. */
  public enum Pick {
    /** Each thread has one lock, shared only where there are fewer locks than threads. */
    OWN,
    /** Each cycle asks for any of them. */
    RANDOM
  }

  public Load {
    if (jvms < 1 || threads < 1 || locks < 1 || cycles < 0) {
      throw new IllegalArgumentException("a load needs a JVM, a thread and a lock: " + this);
    }
    if (permits < 1 || readPercent < 0 || readPercent > 99 || (permits > 1 && readPercent > 0)) {
      throw new IllegalArgumentException(
          "a load has 1 permit or more, or 0 to 99 % of readers: " + this);
    }
  }

  /** Threads of one JVM with one lock each, as far as the locks go. */
  public static Load of(int threads, int locks) {
    return new Load(1, threads, locks, Pick.OWN, 0, false, 1, 0, false);
  }

  /** The same with another way to choose. */
  public Load picking(Pick choice) {
    return new Load(jvms, threads, locks, choice, cycles, writes, permits, readPercent, handOffs);
  }

  /** Each thread runs {@code count} cycles, however long that takes. */
  public Load cycles(int count) {
    return new Load(jvms, threads, locks, pick, count, writes, permits, readPercent, handOffs);
  }

  /** Each holder reads and writes a row. */
  public Load writing() {
    return new Load(jvms, threads, locks, pick, cycles, true, permits, readPercent, handOffs);
  }

  /** The same number of threads in each of {@code count} processes. */
  public Load inEachOf(int count) {
    return new Load(count, threads, locks, pick, cycles, writes, permits, readPercent, handOffs);
  }

  /** Up to {@code count} threads are inside at once. */
  public Load permits(int count) {
    return new Load(jvms, threads, locks, pick, cycles, writes, count, readPercent, handOffs);
  }

  /** So many of 100 cycles read. */
  public Load reading(int percent) {
    return new Load(jvms, threads, locks, pick, cycles, writes, permits, percent, handOffs);
  }

  /** The time from each holder to the next is measured. */
  public Load handingOff() {
    return new Load(jvms, threads, locks, pick, cycles, writes, permits, readPercent, true);
  }

  /** Whether the next cycle reads. */
  boolean nextReads() {
    return readPercent > 0 && next(100) < readPercent;
  }

  /** The same shape with other numbers, where it has several threads. */
  Load withThreads(int count) {
    if (threads == 1) {
      return this;
    }
    return new Load(
        jvms,
        count,
        locks == threads ? count : locks,
        pick,
        cycles,
        writes,
        permits,
        readPercent,
        handOffs);
  }

  /** The locks that thread {@code thread} of process {@code jvm} may ask for. */
  int[] locksOf(int jvm, int thread) {
    if (pick == Pick.OWN) {
      return new int[] {(jvm * threads + thread) % locks};
    }
    int[] all = new int[locks];
    for (int lock = 0; lock < locks; lock++) {
      all[lock] = lock;
    }
    return all;
  }

  static int next(int choices) {
    return choices == 1 ? 0 : ThreadLocalRandom.current().nextInt(choices);
  }
}
