package io.pawl.lab.chaos;

import io.pawl.checker.Span;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Sleeps for a moment and, where it is told to, sends a byte to the disk, again and again. A beat
 * that comes late says that the machine had no time for this JVM, or the disk for anybody: then
 * nobody may be blamed for waiting. It asks no store and no library, so that nothing that these do
 * can excuse them. Thread-safe.
 */
final class Pulse implements AutoCloseable {

  private static final long PAUSE_MILLIS = 20;
  private static final int MOST = 100_000;
  private static final int JUMPS = 1 + 2 * MOST;
  private static final long JUMP_NANOS = TimeUnit.MINUTES.toNanos(10);

  private final Words words;
  private final long lateNanos;
  private final Thread thread;
  private volatile boolean ending;

  private interface Beat {
    void beat() throws IOException;
  }

  private Pulse(Path folder, int jvm, long lateMillis, boolean ofDisk) {
    this.words = words(folder, jvm);
    this.lateNanos = TimeUnit.MILLISECONDS.toNanos(lateMillis + PAUSE_MILLIS);
    this.thread = new Thread(() -> run(ofDisk ? folder.resolve("disk") : null), "chaos-pulse");
    thread.setDaemon(true);
    thread.start();
  }

  /**
   * Watches the processors from within this JVM.
   *
   * @param jvm its number, used once
   * @param lateMillis from when on a beat is late
   */
  static Pulse ofProcessors(Path folder, int jvm, long lateMillis) {
    return new Pulse(folder, jvm, lateMillis, false);
  }

  /** As {@link #ofProcessors}, and the disk that has the folder. */
  static Pulse ofMachine(Path folder, int jvm, long lateMillis) {
    return new Pulse(folder, jvm, lateMillis, true);
  }

  private static Words words(Path folder, int jvm) {
    return Words.in(folder.resolve("pulse-" + jvm), JUMPS + 1L);
  }

  private void run(@Nullable Path file) {
    if (file == null) {
      run(() -> {});
      return;
    }
    ByteBuffer one = ByteBuffer.allocate(1);
    try (FileChannel disk =
        FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      run(
          () -> {
            disk.write(one.clear(), 0);
            disk.force(false);
          });
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void run(Beat beat) {
    long ahead = wallClockAhead();
    while (!ending) {
      long from = System.nanoTime();
      try {
        Thread.sleep(PAUSE_MILLIS);
        beat.beat();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      if (Math.abs(wallClockAhead() - ahead) > JUMP_NANOS) {
        ahead = wallClockAhead();
        words.add(JUMPS, 1);
      }
      long until = System.nanoTime();
      if (until - from > lateNanos && words.get(0) < MOST) {
        int number = (int) words.get(0);
        words.set(1 + 2 * number, from);
        words.set(2 + 2 * number, until);
        words.set(0, number + 1L);
      }
    }
  }

  private static long wallClockAhead() {
    return TimeUnit.MILLISECONDS.toNanos(System.currentTimeMillis()) - System.nanoTime();
  }

  /** Returns how often that JVM saw its wall clock jump. */
  static int jumps(Path folder, int jvm) {
    return (int) words(folder, jvm).get(JUMPS);
  }

  /** Returns when the pulse of that JVM was late. */
  static List<Span> late(Path folder, int jvm) {
    Words words = words(folder, jvm);
    List<Span> late = new ArrayList<>();
    for (int number = 0; number < words.get(0); number++) {
      late.add(new Span(words.get(1 + 2 * number), words.get(2 + 2 * number)));
    }
    return late;
  }

  @Override
  public void close() {
    ending = true;
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
