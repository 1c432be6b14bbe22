package io.pawl.cli.demo;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Locale;

/** The two counters that the demo's workers share: one believes anybody, one checks tokens. */
final class DemoFiles {

  /** A counter and the largest token that has written it. */
  record Content(long token, long value) {}

  private final Path unfenced;
  private final Path fenced;
  private final boolean fence;

  /**
   * @param fence false breaks the fence, to see the demo fail
   */
  DemoFiles(Path directory, boolean fence) {
    this.unfenced = directory.resolve("unfenced");
    this.fenced = directory.resolve("fenced");
    this.fence = fence;
  }

  Content readUnfenced() {
    return inFile(unfenced, DemoFiles::read);
  }

  Content readFenced() {
    return inFile(fenced, DemoFiles::read);
  }

  /**
   * Reads for a holder that is going to write: from now on smaller tokens are refused, so that what
   * it read is what it writes over.
   */
  Content readFenced(long token) {
    return inFile(
        fenced,
        channel -> {
          Content present = read(channel);
          return present.token() < token
              ? write(channel, new Content(token, present.value()))
              : present;
        });
  }

  void writeUnfenced(Content content) {
    inFile(unfenced, channel -> write(channel, content));
  }

  /**
   * Writes unless a larger token has; answers whether it did.
   *
   * @param written runs before anybody else can write, so that what it notes is in the order of the
   *     writes
   */
  boolean writeFenced(Content content, Runnable written) {
    Content now =
        inFile(
            fenced,
            channel -> {
              Content present = read(channel);
              if (fence && content.token() < present.token()) {
                return present;
              }
              write(channel, content);
              written.run();
              return content;
            });
    return now.equals(content);
  }

  private interface Step {
    Content run(FileChannel channel) throws IOException;
  }

  /** The file lock makes each step whole; it plays the database's row lock. */
  private static Content inFile(Path file, Step step) {
    try (FileChannel channel =
            FileChannel.open(
                file,
                StandardOpenOption.CREATE,
                StandardOpenOption.READ,
                StandardOpenOption.WRITE);
        FileLock whole = channel.lock()) {
      return whole.isValid() ? step.run(channel) : new Content(0, 0);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Content read(FileChannel channel) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(64);
    channel.read(bytes, 0);
    String text = new String(bytes.array(), 0, bytes.position(), StandardCharsets.US_ASCII).strip();
    if (text.isEmpty()) {
      return new Content(0, 0);
    }
    String[] words = text.split(" +");
    return new Content(Long.parseLong(words[0]), Long.parseLong(words[1]));
  }

  private static Content write(FileChannel channel, Content content) throws IOException {
    String text = String.format(Locale.ROOT, "%20d %20d%n", content.token(), content.value());
    channel.write(ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII)), 0);
    return content;
  }
}
