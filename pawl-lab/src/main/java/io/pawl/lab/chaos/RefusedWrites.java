package io.pawl.lab.chaos;

import io.pawl.servers.fault.Child;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;

/**
 * For a while no worker can write to a file: each write fails (EFBIG) beyond its first byte, as one
 * does on a disk that is full or broken. What is mapped into memory goes on.
 */
final class RefusedWrites {

  private static final long ONE_BYTE = 1;

  /** Longer than the patience of any worker; after kills all may have the longer one. */
  private static final long FELT_MILLIS = 6_000;

  private static final long LOOK_MILLIS = 10;

  private RefusedWrites() {}

  /**
   * Returns how many requests have failed by then; lasts longer until one has.
   *
   * @param failed how many have so far
   */
  static int play(List<Child> workers, long millis, IntSupplier failed) {
    workers.forEach(worker -> worker.limitFiles(ONE_BYTE));
    try {
      awaitFelt(millis, failed);
    } finally {
      workers.forEach(worker -> worker.limitFiles(Child.UNLIMITED));
    }
    return failed.getAsInt();
  }

  /** Returns how many requests have failed after {@code millis}, or later when one has. */
  static int awaitFelt(long millis, IntSupplier failed) {
    sleep(millis);
    long from = System.nanoTime();
    while (failed.getAsInt() == 0
        && System.nanoTime() - from < TimeUnit.MILLISECONDS.toNanos(FELT_MILLIS)) {
      sleep(LOOK_MILLIS);
    }
    return failed.getAsInt();
  }

  private static void sleep(long millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ChaosException("interrupted", e);
    }
  }
}
