package io.pawl.lab.chaos;

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
 * Numbers in a file that is mapped into memory: several processes share them, and what was written
 * is not lost when a process is killed. Thread-safe.
 */
final class Words {

  private static final VarHandle WORD =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

  private final MappedByteBuffer bytes;

  private Words(MappedByteBuffer bytes) {
    this.bytes = bytes;
  }

  /** Opens a file, made where there is none; what nobody writes takes no room. */
  static Words in(Path file, long words) {
    try (FileChannel channel =
        FileChannel.open(
            file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      return new Words(channel.map(FileChannel.MapMode.READ_WRITE, 0, words * Long.BYTES));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  int size() {
    return bytes.capacity() / Long.BYTES;
  }

  long get(int word) {
    return (long) WORD.getVolatile(bytes, word * Long.BYTES);
  }

  void set(int word, long value) {
    WORD.setVolatile(bytes, word * Long.BYTES, value);
  }

  long add(int word, long more) {
    return (long) WORD.getAndAdd(bytes, word * Long.BYTES, more);
  }

  long swap(int word, long value) {
    return (long) WORD.getAndSet(bytes, word * Long.BYTES, value);
  }

  boolean replace(int word, long expected, long value) {
    return WORD.compareAndSet(bytes, word * Long.BYTES, expected, value);
  }
}
