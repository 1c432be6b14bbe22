package io.pawl.cli.demo;

import static java.util.concurrent.TimeUnit.SECONDS;

import io.pawl.concurrent.Uninterruptibly;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;

/** The JVMs of a demo and their folder. Neither outlives it, except where KILL ends it. */
final class DemoProcesses implements AutoCloseable {

  private static final long PATIENCE_MILLIS = 2_000;
  private static final long END_SECONDS = 5;

  private final Class<?> program;
  private final Path directory;
  private final List<Process> all = new CopyOnWriteArrayList<>();
  private final Thread hook = new Thread(this::endBySignal, "pawl-demo-end");
  private volatile boolean ended;

  DemoProcesses(Class<?> program, Path directory) {
    this.program = program;
    this.directory = directory;
    Runtime.getRuntime().addShutdownHook(hook);
  }

  interface Condition {
    boolean holds();
  }

  /** Starts {@code pawl COMMAND DIRECTORY MORE...} in a JVM of its own. */
  Process start(String command, Path directory, List<String> more) throws IOException {
    List<String> line = new ArrayList<>();
    line.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    line.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx64m"));
    for (String property : List.of("org.sqlite.lib.path", "org.sqlite.lib.name")) {
      String value = System.getProperty(property);
      if (value != null) {
        line.add("-D" + property + "=" + value);
      }
    }
    line.addAll(List.of("--enable-native-access=ALL-UNNAMED", "-cp"));
    line.add(System.getProperty("java.class.path"));
    line.addAll(List.of(program.getName(), command, directory.toString()));
    line.addAll(more);
    Process process = new ProcessBuilder(line).inheritIO().start();
    all.add(process);
    if (ended) {
      process.destroyForcibly();
    }
    return process;
  }

  boolean isAlive(long pid) {
    return all.stream().anyMatch(process -> process.pid() == pid && process.isAlive());
  }

  static void signal(String name, long pid) throws IOException, InterruptedException {
    new ProcessBuilder("/bin/sh", "-c", "kill -s \"$1\" \"$2\"", "sh", name, Long.toString(pid))
        .redirectError(Redirect.DISCARD)
        .start()
        .waitFor();
  }

  /** Returns when it holds, or without when it takes too long: the checks will tell. */
  static boolean await(Condition condition) throws InterruptedException {
    return await(condition, PATIENCE_MILLIS);
  }

  static boolean await(Condition condition, long patienceMillis) throws InterruptedException {
    long giveUpAt = System.nanoTime() + patienceMillis * 1_000_000;
    while (!condition.holds() && System.nanoTime() < giveUpAt) {
      Thread.sleep(2);
    }
    return condition.holds();
  }

  /** Waits for those that have been told to end, and kills those that do not. */
  void awaitEnd() throws InterruptedException {
    for (Process process : all) {
      if (!process.waitFor(END_SECONDS, SECONDS)) {
        process.destroyForcibly().waitFor();
      }
    }
  }

  @Override
  public void close() throws IOException {
    end();
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException jvmIsShuttingDown) {
      // the hook runs, or has run: there is nothing left to remove
    }
  }

  private void endBySignal() {
    try {
      end();
    } catch (IOException e) {
      // what cannot be removed stays
    }
  }

  private synchronized void end() throws IOException {
    ended = true;
    all.forEach(Process::destroyForcibly);
    all.forEach(process -> Uninterruptibly.await(process.onExit(), SECONDS.toNanos(END_SECONDS)));
    if (Files.exists(directory)) {
      delete();
    }
  }

  private void delete() throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    }
  }
}
