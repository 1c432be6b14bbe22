package io.pawl.servers;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A shell beside a process that kills it and removes its folder when this JVM is gone, however it
 * went: the shell reads the process' pid from a pipe that only the JVM holds open.
 */
public final class Guard {
  private static final String SCRIPT =
      """
      trap '' INT HUP TERM
      pid=
      while read -r line; do
        [ "$line" != dismissed ] || exit 0
        pid=${line#none}
      done
      [ -z "$pid" ] || kill -9 "$pid" $(cat /proc/"$pid"/task/*/children) 2>/dev/null
      rm -rf "$1" 2>/dev/null || { sleep 1; rm -rf "$1"; } # others may be writing there still
      """;
  private static final Set<Guard> onDuty = ConcurrentHashMap.newKeySet();

  static {
    Runtime.getRuntime().addShutdownHook(new Thread(Guard::leaveNothing, "pawl-servers-stop"));
  }

  private final Process shell;

  private Guard(Process shell) {
    this.shell = shell;
  }

  /** Posts a guard over {@code folder}, and a process that will keep its data there. */
  public static Guard over(Path folder) {
    return posted(folder.toString());
  }

  /** Posts a guard over a process without a folder: one that is stopped hears of nobody's end. */
  public static Guard over(Process process) {
    Guard guard = posted("");
    guard.watch(process.pid());
    return guard;
  }

  private static Guard posted(String folder) {
    try {
      Guard guard =
          new Guard(
              new ProcessBuilder("sh", "-c", SCRIPT, "pawl-guard", folder)
                  .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                  .redirectError(ProcessBuilder.Redirect.DISCARD)
                  .start());
      onDuty.add(guard);
      return guard;
    } catch (IOException e) {
      throw new ServerException("cannot start a shell", e);
    }
  }

  /** Kills the process of this id from now on, and no other. */
  void watch(long pid) {
    tell(Long.toString(pid));
  }

  void watchNothing() {
    tell("none");
  }

  /** Ends it: nothing is killed or removed. */
  public void dismiss() {
    if (onDuty.remove(this)) {
      tell("dismissed");
    }
  }

  private synchronized void tell(String line) {
    try {
      OutputStream ears = shell.getOutputStream();
      ears.write((line + "\n").getBytes(StandardCharsets.US_ASCII));
      ears.flush();
    } catch (IOException e) {
      throw new ServerException("a guard has died", e);
    }
  }

  private static void leaveNothing() {
    for (Guard guard : onDuty) {
      try {
        guard.shell.getOutputStream().close();
        guard.shell.waitFor();
      } catch (IOException | InterruptedException e) {
        // The pipe closes with the JVM all the same.
      }
    }
  }
}
