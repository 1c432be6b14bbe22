package io.pawl.cli.run;

import java.io.IOException;
import java.io.OutputStream;
import java.lang.ProcessBuilder.Redirect;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A small shell process beside the command, which stops it where this JVM no longer can: when it
 * was killed, or is stopped itself for so long that the lease runs out. See {@code guard.sh}. Linux
 * only.
 */
final class Guard {

  private static final Path UPTIME = Path.of("/proc/uptime");

  private final OutputStream orders;

  private Guard(OutputStream orders) {
    this.orders = orders;
  }

  /**
   * Starts one; null where that is not possible.
   *
   * @param mark the mark of the command's processes
   * @param stopAt uptime in centiseconds at which the command has to be stopped
   * @param graceMillis between TERM and KILL
   */
  static @Nullable Guard start(String mark, long child, long stopAt, long graceMillis) {
    if (!Files.isReadable(UPTIME)) {
      return null;
    }
    try {
      List<String> guard =
          List.of(
              "/bin/sh",
              "-c",
              Scripts.read("guard.sh"),
              "pawl-guard",
              mark,
              Long.toString(child),
              Long.toString(stopAt),
              Long.toString(graceMillis / 10));
      return new Guard(spawn(guard).getOutputStream());
    } catch (IOException e) {
      return null;
    }
  }

  /** In a session of its own where there is a {@code setsid}, so that no terminal reaches it. */
  private static Process spawn(List<String> guard) throws IOException {
    List<String> command = new ArrayList<>(guard);
    Stream.of("/usr/bin/setsid", "/bin/setsid")
        .filter(setsid -> Files.isExecutable(Path.of(setsid)))
        .findFirst()
        .ifPresent(setsid -> command.add(0, setsid));
    return new ProcessBuilder(command)
        .redirectOutput(Redirect.DISCARD)
        .redirectError(Redirect.DISCARD)
        .start();
  }

  /**
   * Centiseconds since boot, on the clock that the guard can read too; negative where it cannot be
   * read: a host may have no file to open left, or its container no {@code lxcfs}.
   */
  static long uptime() {
    return uptime(UPTIME);
  }

  static long uptime(Path clock) {
    try {
      String uptime = Files.readString(clock, StandardCharsets.US_ASCII);
      int end = uptime.indexOf(' '); // an lxcfs that fails answers with an empty file
      return end < 0 ? -1 : new BigDecimal(uptime.substring(0, end)).movePointRight(2).longValue();
    } catch (IOException e) {
      return -1;
    }
  }

  /** Moves the time at which the command has to be stopped. */
  void stopAt(long uptime, long graceMillis) {
    order(uptime + " " + graceMillis / 10);
  }

  /** The command has ended: the guard ends too and touches nothing. */
  void dismiss() {
    order("done");
  }

  private void order(String line) {
    try {
      orders.write((line + "\n").getBytes(StandardCharsets.US_ASCII));
      orders.flush();
    } catch (IOException e) {
      // somebody killed the guard: there is nobody left to tell
    }
  }
}
