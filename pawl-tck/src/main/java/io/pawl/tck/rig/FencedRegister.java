package io.pawl.tck.rig;

import io.pawl.Lease;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Locale;

/** A file that accepts a write iff its token is larger than every one that it has seen. */
public final class FencedRegister {

  private static final Object ONE_THREAD_OF_THIS_PROCESS = new Object();

  private final Path file;

  public FencedRegister(Path file) {
    this.file = file;
  }

  /** Whether the write was accepted. */
  public boolean write(long token) throws IOException {
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
        String text = String.format(Locale.ROOT, "%019d", token);
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

  /** Fails where another holder is inside, or was before with a token not smaller. */
  public static void visit(Lease lease, Path directory) throws IOException {
    Path inside = Files.createFile(directory.resolve("inside"));
    boolean grown = new FencedRegister(directory.resolve("tokens")).write(lease.token());
    Files.delete(inside);
    if (!grown) {
      throw new IllegalStateException("token " + lease.token() + " is not larger than the last");
    }
  }
}
