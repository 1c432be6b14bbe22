package io.pawl.bench.soak;

import io.pawl.bench.BenchException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.EnumMap;
import java.util.Map;

/**
 * What one JVM of a soak was told of each of its takes: a byte each, in a file that is mapped into
 * memory, so that nothing noted is lost when the JVM is killed. Thread-safe, a take being one
 * thread's at a time.
 */
final class SoakNotes {

  /** What is known of a take. */
  enum Note {
    /** It was asked for, and whoever asked was killed before it was told anything. */
    UNTOLD,
    TAKEN,
    REFUSED,
    /** An {@link io.pawl.counter.OutcomeUnknownException}. */
    UNKNOWN,
    /** A {@link io.pawl.error.StoreException}: certainly nothing was changed. */
    UNCHANGED,
    /** What was told cannot be true, or was another thing the second time. */
    CONTRADICTED,
    /** What {@link io.pawl.Counter#outcome} answered in the end where nothing had been told. */
    FOUND_APPLIED,
    FOUND_REFUSED,
    FOUND_NEVER;

    /** Whether it is still to be found out. */
    boolean isOpen() {
      return this == UNTOLD || this == UNKNOWN;
    }
  }

  private static final VarHandle WORD =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());
  private static final int ASKED = 0;
  private static final int TOLD = 8;
  private static final int HEADER_BYTES = 16;
  private static final byte SEEN = 64;
  private static final Note[] NOTES = Note.values();

  private final MappedByteBuffer bytes;
  private final int jvm;

  private SoakNotes(MappedByteBuffer bytes, int jvm) {
    this.bytes = bytes;
    this.jvm = jvm;
  }

  /**
   * The notes of {@code jvm} in {@code folder}, created where there are none.
   *
   * @param most takes that it may ask for; the file takes no room for those that it does not
   */
  static SoakNotes of(Path folder, int jvm, int most) {
    try (FileChannel channel =
        FileChannel.open(
            folder.resolve("jvm" + jvm),
            StandardOpenOption.CREATE,
            StandardOpenOption.READ,
            StandardOpenOption.WRITE)) {
      long size = HEADER_BYTES + (long) most;
      return new SoakNotes(channel.map(FileChannel.MapMode.READ_WRITE, 0, size), jvm);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The next take to ask for. */
  SoakTake next() {
    long number = (long) WORD.getAndAdd(bytes, ASKED, 1L);
    if (number >= bytes.capacity() - HEADER_BYTES) {
      throw new BenchException("JVM " + jvm + " has no room to note take " + number);
    }
    return take((int) number);
  }

  SoakTake take(int number) {
    return new SoakTake(jvm, number);
  }

  /** How many were asked for: those with smaller numbers. */
  int asked() {
    return (int) (long) WORD.getVolatile(bytes, ASKED);
  }

  /** How many were told as taken or refused. */
  long told() {
    return (long) WORD.getVolatile(bytes, TOLD);
  }

  /** One more was told as taken or refused. */
  void countTold() {
    WORD.getAndAdd(bytes, TOLD, 1L);
  }

  Note get(SoakTake take) {
    return NOTES[bytes.get(index(take)) & ~SEEN];
  }

  void put(SoakTake take, Note note) {
    bytes.put(index(take), (byte) note.ordinal());
  }

  /** Marks the take as seen in the ledger; answers whether it was already. */
  boolean see(SoakTake take) {
    byte before = bytes.get(index(take));
    bytes.put(index(take), (byte) (before | SEEN));
    return (before & SEEN) != 0;
  }

  /** Takes the mark away; answers whether it was there. */
  boolean unsee(SoakTake take) {
    byte before = bytes.get(index(take));
    bytes.put(index(take), (byte) (before & ~SEEN));
    return (before & SEEN) != 0;
  }

  private static int index(SoakTake take) {
    return HEADER_BYTES + take.number();
  }

  /** How many takes have each note. */
  Map<Note, Long> counts() {
    Map<Note, Long> counts = new EnumMap<>(Note.class);
    for (int number = 0; number < asked(); number++) {
      counts.merge(get(take(number)), 1L, Long::sum);
    }
    return counts;
  }
}
