package io.pawl.cli.demo;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;

/**
 * What the workers of the demo did, one line each, appended by many processes. Times are those of
 * the host's monotonic clock.
 */
final class DemoHistory {

  enum Kind {
    /** A lease was granted: asked at, got at. */
    GRANT,
    /** The last time at which the lease said that it is valid. */
    VALID,
    /** The fence took the write. */
    ACCEPTED,
    /** The fence refused the write. */
    REFUSED,
    /** A write to the file without a fence: the value written. */
    UNFENCED,
    /** Done with this lease. */
    DONE,
    /** A buyer was told of a prize; the token is the buyer. */
    SOLD,
    /** A buyer was told that none is left; the token is the buyer. */
    SOLD_OUT
  }

  record Event(Kind kind, long pid, long token, long first, long second) {
    String line() {
      return kind + " " + pid + " " + token + " " + first + " " + second + "\n";
    }

    static Event parse(String line) {
      String[] words = line.split(" ");
      return new Event(
          Kind.valueOf(words[0]),
          Long.parseLong(words[1]),
          Long.parseLong(words[2]),
          Long.parseLong(words[3]),
          Long.parseLong(words[4]));
    }
  }

  private final Path file;

  DemoHistory(Path directory) {
    this.file = directory.resolve("history");
  }

  void add(Kind kind, long token, long first, long second) {
    Event event = new Event(kind, ProcessHandle.current().pid(), token, first, second);
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
      channel.write(ByteBuffer.wrap(event.line().getBytes(StandardCharsets.US_ASCII)));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** All whole lines, in the order in which they were written. */
  List<Event> read() {
    try {
      if (!Files.exists(file)) {
        return List.of();
      }
      String text = Files.readString(file, StandardCharsets.US_ASCII);
      return text.substring(0, text.lastIndexOf('\n') + 1).lines().map(Event::parse).toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
