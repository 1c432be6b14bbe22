package io.pawl.cli.e2e;

import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Starts the real launcher in a directory of its own, and looks at the processes that result. */
final class Shell {

  static final Duration LONG = Duration.ofSeconds(20);

  static final String LAUNCHER =
      System.getProperty("pawl.launcher", Path.of("..", "pawl").toAbsolutePath().toString());

  /** What resets signals, each on one kind of system; a shell cannot, once they are ignored. */
  private static final List<List<String>> RESETS =
      List.of(
          List.of("env", "--default-signal"),
          List.of("perl", "-e", "$SIG{$_} = 'DEFAULT' for keys %SIG; exec @ARGV or exit 127"));

  private static final List<String> RESET =
      RESETS.stream().filter(Shell::works).findFirst().orElse(List.of());

  final Path directory;
  private final Map<String, String> variables;
  private final List<Started> all = new ArrayList<>();

  Shell(Path directory) {
    this.directory = directory;
    this.variables =
        Map.of(
            "PAWL_STORE", "sqlite:" + directory.resolve("locks.db"),
            "HOME", directory.toString(),
            "XDG_CONFIG_HOME", directory.resolve("config").toString(),
            "XDG_STATE_HOME", directory.resolve("state").toString());
  }

  /** A process whose output goes to files; its pid is that of the JVM, for the launcher execs. */
  record Started(Process process, Path out, Path err) {
    int exit() {
      try {
        if (!process.waitFor(60, TimeUnit.SECONDS)) {
          throw new AssertionError("still running: " + process.info());
        }
        return process.exitValue();
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    }

    String output() {
      return text(out);
    }

    String errors() {
      return text(err);
    }

    Started awaitOutput(String wanted) {
      await().atMost(LONG).until(() -> output().contains(wanted));
      return this;
    }
  }

  private static boolean works(List<String> reset) {
    List<String> command = new ArrayList<>(reset);
    command.add("true");
    try {
      return new ProcessBuilder(command).redirectErrorStream(true).start().waitFor() == 0;
    } catch (IOException e) {
      return false;
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  Started start(String... args) {
    return start(Map.of(), args);
  }

  Started start(Map<String, String> changes, String... args) {
    List<String> command = new ArrayList<>(List.of(LAUNCHER));
    command.addAll(List.of(args));
    return launch(new ProcessBuilder(command), changes);
  }

  /**
   * Starts it with no signal ignored, whatever these tests were started with: a script's {@code &}
   * ignores INT and QUIT, {@code nohup} HUP.
   *
   * @param changes where one to an empty value takes the variable away
   */
  Started launch(ProcessBuilder builder, Map<String, String> changes) {
    List<String> command = new ArrayList<>(RESET);
    command.addAll(builder.command());
    builder.command(command);
    builder.environment().putAll(variables);
    changes.forEach(builder.environment()::put);
    builder.environment().values().removeIf(String::isEmpty);
    try {
      Path out = Files.createTempFile(directory, "out", ".txt");
      Path err = Files.createTempFile(directory, "err", ".txt");
      builder.directory(directory.toFile()).redirectOutput(out.toFile());
      builder.redirectError(err.toFile());
      Started started = new Started(builder.start(), out, err);
      all.add(started);
      return started;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  Started run(String... args) {
    Started started = start(args);
    started.exit();
    return started;
  }

  Started run(Map<String, String> changes, String... args) {
    Started started = start(changes, args);
    started.exit();
    return started;
  }

  /** An empty file in the directory, for commands to wait for. */
  void create(String file) {
    try {
      Files.createFile(directory.resolve(file));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  void signal(String name, long pid) {
    try {
      new ProcessBuilder("sh", "-c", "kill -s " + name + " " + pid).start().waitFor();
    } catch (IOException | InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** The pids that a command has appended to the file {@code pids}. */
  List<Long> pids(int count) {
    Path file = directory.resolve("pids");
    await().atMost(LONG).until(() -> Files.exists(file) && text(file).lines().count() >= count);
    return text(file).lines().map(Long::valueOf).toList();
  }

  static boolean isAlive(long pid) {
    try {
      String stat = Files.readString(Path.of("/proc/" + pid + "/stat"));
      return stat.charAt(stat.lastIndexOf(')') + 2) != 'Z';
    } catch (IOException e) {
      return false;
    }
  }

  /** Processes that carry {@code mark} in their command line. */
  static List<ProcessHandle> processesWith(String mark) {
    return ProcessHandle.allProcesses()
        .filter(process -> commandLine(process.pid()).contains(mark))
        .toList();
  }

  static String commandLine(long pid) {
    try {
      return Files.readString(Path.of("/proc/" + pid + "/cmdline"), StandardCharsets.ISO_8859_1);
    } catch (IOException e) {
      return "";
    }
  }

  static String text(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  void killAll() {
    for (Started started : all) {
      started.process().descendants().forEach(ProcessHandle::destroyForcibly);
      started.process().destroyForcibly();
    }
  }
}
