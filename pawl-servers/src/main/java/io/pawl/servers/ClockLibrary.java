package io.pawl.servers;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Stream;

/** libfaketime, which moves the wall clock that one process sees. */
public final class ClockLibrary {

  private ClockLibrary() {}

  static Path path() throws IOException {
    Path libraries = ServerProgram.of("faketime").resolveSibling("../lib").normalize();
    try (Stream<Path> files = Files.walk(libraries, 3)) {
      return files
          .filter(file -> file.endsWith("faketime/libfaketimeMT.so.1"))
          .findFirst()
          .orElseThrow(() -> new ServerException("no libfaketimeMT.so.1 below " + libraries));
    }
  }

  /**
   * Returns what the environment of a process needs to have for its wall clock to be moved by
   * {@link #move}, which it sees within a second. Its monotonic clock stays as it is.
   *
   * @param file moved before
   */
  public static Map<String, String> movedBy(Path file) {
    Map<String, String> environment = new HashMap<>(preloaded());
    environment.put("FAKETIME_TIMESTAMP_FILE", file.toString());
    environment.put("FAKETIME_CACHE_DURATION", "1");
    return environment;
  }

  /** Moves the clocks of processes that were started with {@code file}. */
  public static void move(Path file, Duration ahead) {
    try {
      Path next = file.resolveSibling(file.getFileName() + ".next");
      String sign = ahead.isNegative() ? "" : "+";
      Files.writeString(next, sign + ahead.toSeconds());
      Files.move(next, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException e) {
      throw new ServerException("cannot move clocks by " + file, e);
    }
  }

  /**
   * Returns what the environment of a process needs to have for its wall clock to be {@code ahead}
   * of this machine's from its start. Its monotonic clock stays as it is.
   */
  public static Map<String, String> ahead(Duration ahead) {
    Map<String, String> environment = new HashMap<>(preloaded());
    environment.put("FAKETIME", "+" + ahead.toSeconds());
    return environment;
  }

  private static Map<String, String> preloaded() {
    try {
      return Map.of(
          "LD_PRELOAD",
          path().toString(),
          "FAKETIME_DONT_FAKE_MONOTONIC",
          "1",
          // Else timed waits, which a JVM counts by the monotonic clock, end too soon.
          "FAKETIME_FORCE_MONOTONIC_FIX",
          "0");
    } catch (IOException e) {
      throw new ServerException("cannot find libfaketime", e);
    }
  }
}
