package io.pawl.tck;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** A file that accepts a write iff its token is larger than every one that it has seen. */
final class FencedRegister {

  private static final Object ONE_THREAD_OF_THIS_PROCESS = new Object();

  private final Path file;

  FencedRegister(Path file) {
    this.file = file;
  }

  /** Whether the write was accepted. */
  boolean write(long token) throws IOException {
    synchronized (ONE_THREAD_OF_THIS_PROCESS) {
      try (FileChannel channel =
              FileChannel.open(
                  file,
                  StandardOpenOption.CREATE,
                  StandardOpenOption.READ,
                  StandardOpenOption.WRITE);
          var oneProcess = channel.lock()) {
        if (!oneProcess.isValid() || token <= largest(channel)) {
          return false;
        }
        String text = String.format("%019d", token);
        channel.write(ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII)), 0);
        return true;
      }
    }
  }

  private static long largest(FileChannel channel) throws IOException {
    ByteBuffer text = ByteBuffer.allocate(19);
    int read = channel.read(text, 0);
    return read < 0 ? 0 : Long.parseLong(new String(text.array(), StandardCharsets.US_ASCII));
  }
}
