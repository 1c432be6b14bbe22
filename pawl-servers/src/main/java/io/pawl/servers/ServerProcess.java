package io.pawl.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A private server on loopback, with a port and a folder of its own until it is closed.
 *
 * <p>Control it from one thread at a time. Signals reach its child processes as well.
 */
public abstract class ServerProcess implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(ServerProcess.class);
  private static final int TAIL_LINES = 25;
  private static final int STOP_SECONDS = 20;

  /** A new database is 200 MB, written to a disk that other servers force at the same time. */
  private static final int PREPARE_SECONDS = 240;

  /** Linux counts processor time in hundredths of a second for all programs. */
  private static final long NANOS_PER_TICK = 10_000_000;

  static final Path NO_INPUT = Path.of("/dev/null");

  private final String name;
  private final Port port = Port.reserve();
  private final Path folder;
  private final Guard guard;
  private @Nullable Process process;

  ServerProcess(String name) {
    this.name = name;
    try {
      this.folder = Files.createTempDirectory("pawl-" + name + "-");
    } catch (IOException e) {
      port.close();
      throw new ServerException("cannot make a folder for " + name, e);
    }
    this.guard = Guard.over(folder);
  }

  /** The command that starts the server in the foreground. */
  abstract List<String> command();

  /** What the server's environment has besides this process'. */
  Map<String, String> environment() {
    return Map.of();
  }

  /** Whether the server serves; asked again and again after a start. */
  abstract boolean answers() throws IOException;

  /** The name of the signal that asks for an orderly end at once. */
  String stopSignal() {
    return "TERM";
  }

  public String host() {
    return Port.HOST;
  }

  public int port() {
    return port.number();
  }

  /** Returns the process id, which changes with each restart. */
  public long pid() {
    return running().pid();
  }

  /**
   * Returns the processor time of the server and its child processes, ended ones too, in steps of
   * 10 ms; empty where the system has no proc(5).
   */
  public OptionalLong cpuNanos() {
    long ticks = 0;
    for (ProcessHandle one : tree().toList()) {
      OptionalLong used = cpuTicks(one);
      if (used.isEmpty()) {
        return used;
      }
      ticks += used.getAsLong();
    }
    return OptionalLong.of(ticks * NANOS_PER_TICK);
  }

  /** Of a process and the children that it has waited for; none of one that has just ended. */
  private static OptionalLong cpuTicks(ProcessHandle handle) {
    try {
      String stat = Files.readString(proc(handle).resolve("stat"));
      String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
      long ticks = 0;
      for (int field = 11; field <= 14; field++) { // utime, stime, cutime, cstime
        ticks += Long.parseLong(fields[field]);
      }
      return OptionalLong.of(ticks);
    } catch (IOException e) {
      return handle.isAlive() ? OptionalLong.empty() : OptionalLong.of(0);
    }
  }

  /** Returns the server's own folder, which {@link #close()} removes. */
  public Path folder() {
    return folder;
  }

  /** Returns the file with what the server printed, over all its restarts. */
  public Path logFile() {
    return folder.resolve("server.log");
  }

  public boolean isAlive() {
    return process != null && process.isAlive();
  }

  /** Freezes the server (SIGSTOP): connections stay open and get no answer. */
  public void pause() {
    freeze(running().toHandle(), toString());
  }

  /** Lets a paused server go on (SIGCONT). */
  public void resume() {
    thaw(running().toHandle(), toString());
  }

  /**
   * Freezes any process with its children (SIGSTOP); returns once they stand still.
   *
   * @param title by which complaints name it
   */
  public static void freeze(ProcessHandle root, String title) {
    signal("STOP", List.of(root), title);
    signal("STOP", root.descendants().toList(), title); // a frozen parent starts no more
    Await.until(
        () -> tree(root).noneMatch(ServerProcess::isRunning), () -> title + " was not paused");
  }

  /** Lets a frozen process go on with its children (SIGCONT). */
  public static void thaw(ProcessHandle root, String title) {
    signal("CONT", tree(root).toList(), title);
  }

  /** Ends the server as a crash does (SIGKILL); its data stays for {@link #restart()}. */
  public void kill() {
    if (process == null) {
      return;
    }
    List<ProcessHandle> all = tree().toList();
    all.forEach(ProcessHandle::destroyForcibly);
    Await.until(
        () -> all.stream().allMatch(ServerProcess::isDead), () -> this + " outlived SIGKILL");
    process = null;
    guard.watchNothing();
  }

  /** Ends the server in good order; a server that does not react is killed. */
  public void stop() {
    if (isAlive()) {
      Process stopping = running();
      resume();
      signal(stopSignal(), List.of(stopping.toHandle()), toString());
      try {
        if (!stopping.waitFor(STOP_SECONDS, TimeUnit.SECONDS)) {
          log.warn("{} did not stop in {} s and is killed", this, STOP_SECONDS);
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
    kill();
  }

  /** Stops the server if it runs and starts it anew on the same port and data. */
  public void restart() {
    stop();
    launch();
  }

  /** Kills the server and removes its folder. */
  @Override
  public void close() {
    kill();
    guard.dismiss();
    port.close();
    delete(folder);
  }

  /** Starts the process and returns once it answers. */
  final void launch() {
    try {
      ProcessBuilder builder =
          new ProcessBuilder(command())
              .directory(folder.toFile())
              .redirectInput(ProcessBuilder.Redirect.from(NO_INPUT.toFile()))
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.appendTo(logFile().toFile()));
      builder.environment().putAll(environment());
      Process started = builder.start();
      process = started;
      guard.watch(started.pid());
    } catch (IOException e) {
      throw new ServerException("cannot start " + name, e);
    }
    Await.until(this::isReady, () -> this + " did not get ready" + tail());
    log.debug("started {}, pid {}, log {}", this, pid(), logFile());
  }

  /** Runs a command that prepares the server's folder and waits for its end. */
  final void prepare(List<String> command, Path input) {
    Process preparing;
    try {
      preparing =
          new ProcessBuilder(command)
              .directory(folder.toFile())
              .redirectInput(input.toFile())
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.appendTo(logFile().toFile()))
              .start();
    } catch (IOException e) {
      throw new ServerException("cannot prepare " + name, e);
    }
    try {
      guard.watch(preparing.pid());
      if (!preparing.waitFor(PREPARE_SECONDS, TimeUnit.SECONDS)) {
        throw new ServerException(this + " was not prepared in time" + tail());
      }
      if (preparing.exitValue() != 0) {
        throw new ServerException(this + " could not be prepared" + tail());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ServerException("interrupted while preparing " + name, e);
    } finally {
      tree(preparing.toHandle()).toList().forEach(ProcessHandle::destroyForcibly);
      guard.watchNothing();
    }
  }

  private boolean isReady() {
    if (!running().isAlive()) {
      throw new ServerException(this + " ended with code " + running().exitValue() + tail());
    }
    try {
      return answers();
    } catch (IOException | UncheckedIOException e) {
      return false;
    }
  }

  private Process running() {
    if (process == null) {
      throw new IllegalStateException(this + " does not run");
    }
    return process;
  }

  private Stream<ProcessHandle> tree() {
    return tree(running().toHandle());
  }

  private static Stream<ProcessHandle> tree(ProcessHandle root) {
    return Stream.concat(Stream.of(root), root.descendants());
  }

  private static void signal(String signal, List<ProcessHandle> targets, String title) {
    String pids =
        targets.stream()
            .map(target -> Long.toString(target.pid()))
            .collect(Collectors.joining(" "));
    if (pids.isEmpty()) {
      return;
    }
    try {
      // The shell's own kill: the program of that name is not everywhere.
      new ProcessBuilder("sh", "-c", "kill -" + signal + " " + pids).start().waitFor();
    } catch (IOException e) {
      throw new ServerException("cannot send SIG" + signal + " to " + title, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ServerException("interrupted while sending SIG" + signal + " to " + title, e);
    }
  }

  private static boolean isRunning(ProcessHandle handle) {
    return "TtZX".indexOf(state(handle)) < 0;
  }

  /** Dead with all its threads, though perhaps not yet waited for by its parent. */
  private static boolean isDead(ProcessHandle handle) {
    if (state(handle) == 'Z') {
      // The first thread may be a zombie while others still hold the sockets.
      try (Stream<Path> threads = Files.list(proc(handle).resolve("task"))) {
        return threads.count() == 1;
      } catch (IOException | UncheckedIOException e) {
        return true;
      }
    }
    return !handle.isAlive();
  }

  private static Path proc(ProcessHandle handle) {
    return Path.of("/proc", Long.toString(handle.pid()));
  }

  /** The state letter of proc(5): T is stopped, Z a zombie, X dead. */
  private static char state(ProcessHandle handle) {
    try {
      String stat = Files.readString(proc(handle).resolve("stat"));
      return stat.charAt(stat.lastIndexOf(')') + 2);
    } catch (IOException e) {
      return 'X';
    }
  }

  String tail() {
    try {
      List<String> lines = Files.readAllLines(logFile());
      return lines.stream()
          .skip(Math.max(0, lines.size() - TAIL_LINES))
          .collect(Collectors.joining("\n  ", "; the end of its log:\n  ", ""));
    } catch (IOException e) {
      return "; its log cannot be read: " + e;
    }
  }

  private static void delete(Path folder) {
    if (Files.notExists(folder)) {
      return;
    }
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    } catch (IOException e) {
      throw new ServerException("cannot remove " + folder, e);
    }
  }

  @Override
  public String toString() {
    return name + " on port " + port();
  }
}
