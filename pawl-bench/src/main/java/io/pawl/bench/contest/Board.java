package io.pawl.bench.contest;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Sees whether exclusion holds, without help of the rival: a file mapped into all processes of a
 * run, with one slot a lock. Whoever has the lock writes itself into the slot with a compare and
 * set, adds one to a plain counter, and strikes itself out. Two at once are seen by the first, lost
 * updates by the sum of the second, a token that does not grow by the third word. Two more say when
 * and by which process it was left. Those who share, readers and holders of permits, count
 * themselves in and out in a word of their own; both sides write theirs before they read the
 * other's, so that of a writer beside a reader one at least sees the other.
 */
final class Board {

  private static final VarHandle WORD =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

  /** One slot fills two cache lines, since processors fetch them in pairs. */
  private static final int SLOT_BYTES = 128;

  private static final int OWNER = 0;
  private static final int COUNT = 8;
  private static final int TOKEN = 16;
  private static final int LEFT_AT = 24;
  private static final int LEFT_BY = 32;
  private static final int SHARERS = 40;
  private static final int SHARED_COUNT = 48;

  private final MappedByteBuffer words;
  private final int locks;

  private Board(MappedByteBuffer words, int locks) {
    this.words = words;
    this.locks = locks;
  }

  /** The board at {@code file}, created where it does not exist. */
  static Board at(Path file, int locks) {
    try (FileChannel channel =
        FileChannel.open(
            file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      long size = (long) locks * SLOT_BYTES;
      return new Board(channel.map(FileChannel.MapMode.READ_WRITE, 0, size), locks);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** {@code who} has got the lock. */
  void enter(int lock, long who, long token) {
    int slot = lock * SLOT_BYTES;
    long other = (long) WORD.compareAndExchange(words, slot + OWNER, 0L, who);
    if (other != 0) {
      throw new ExclusionViolation(
          "lock " + lock + ": granted to " + name(who) + " while " + name(other) + " had it");
    }
    checkNoSharers(lock, who);
    WORD.set(words, slot + COUNT, (long) WORD.get(words, slot + COUNT) + 1);
    if (token != 0) {
      long last = (long) WORD.get(words, slot + TOKEN);
      if (token <= last) {
        throw new ExclusionViolation("lock " + lock + ": token " + token + " came after " + last);
      }
      WORD.set(words, slot + TOKEN, token);
    }
  }

  /** {@code who} is about to release the lock. */
  void leave(int lock, long who) {
    checkNoSharers(lock, who);
    long found = (long) WORD.compareAndExchange(words, lock * SLOT_BYTES + OWNER, who, 0L);
    if (found != who) {
      throw new ExclusionViolation(
          "lock " + lock + ": " + name(found) + " came in while " + name(who) + " had it");
    }
  }

  private void checkNoSharers(int lock, long who) {
    long sharers = (long) WORD.getVolatile(words, lock * SLOT_BYTES + SHARERS);
    if (sharers != 0) {
      throw new ExclusionViolation(
          "lock " + lock + ": " + name(who) + " had it alone beside " + sharers + " who share it");
    }
  }

  /** {@code who} has got a share of the lock, which at most {@code most} may have at once. */
  void enterShared(int lock, long who, int most) {
    int slot = lock * SLOT_BYTES;
    long sharers = (long) WORD.getAndAdd(words, slot + SHARERS, 1L) + 1;
    if (sharers > most) {
      throw new ExclusionViolation(
          "lock " + lock + ": " + name(who) + " came in as number " + sharers + " of " + most);
    }
    checkNobodyAlone(lock, who);
    WORD.getAndAdd(words, slot + SHARED_COUNT, 1L);
  }

  /** {@code who} is about to give the share back. */
  void leaveShared(int lock, long who) {
    checkNobodyAlone(lock, who);
    WORD.getAndAdd(words, lock * SLOT_BYTES + SHARERS, -1L);
  }

  private void checkNobodyAlone(int lock, long who) {
    long other = (long) WORD.getVolatile(words, lock * SLOT_BYTES + OWNER);
    if (other != 0) {
      throw new ExclusionViolation(
          "lock " + lock + ": shared by " + name(who) + " while " + name(other) + " had it alone");
    }
  }

  /**
   * How long ago the holder before began to give the lock back, negative where there was none. Only
   * the holder may ask. {@link System#nanoTime} is one clock for all processes.
   */
  long nanosSinceLeft(int lock, long now) {
    int slot = lock * SLOT_BYTES;
    long by = (long) WORD.get(words, slot + LEFT_BY);
    return by == 0 ? -1 : now - (long) WORD.get(words, slot + LEFT_AT);
  }

  /** Whether that was another process than {@code jvm}, or nobody. */
  boolean wasLeftByOther(int lock, int jvm) {
    return (long) WORD.get(words, lock * SLOT_BYTES + LEFT_BY) != jvm + 1;
  }

  /** The holder notes that it is about to release. */
  void leaving(int lock, int jvm, long now) {
    int slot = lock * SLOT_BYTES;
    WORD.set(words, slot + LEFT_BY, (long) jvm + 1);
    WORD.set(words, slot + LEFT_AT, now);
  }

  /** How often all locks together were entered. */
  long entries() {
    long sum = 0;
    for (int lock = 0; lock < locks; lock++) {
      sum += (long) WORD.getVolatile(words, lock * SLOT_BYTES + COUNT);
      sum += (long) WORD.getVolatile(words, lock * SLOT_BYTES + SHARED_COUNT);
    }
    return sum;
  }

  /** How thread {@code thread} of process {@code jvm} signs. */
  static long signature(int jvm, int thread) {
    return ((long) jvm << 32) + thread + 1;
  }

  private static String name(long signature) {
    return signature == 0
        ? "nobody"
        : "thread " + ((int) signature - 1) + " of JVM " + (signature >> 32);
  }
}
