package io.pawl.cli;

import io.pawl.cli.DemoHistory.Event;
import io.pawl.cli.DemoHistory.Kind;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParseResult;

/**
 * {@code pawl demo}: processes fight over a lock while some are killed and some are stopped for
 * longer than their lease, and then it looks at what they wrote down.
 */
final class DemoCommand implements Command {

  private static final int WORKERS = 4;
  private static final int ROUNDS = 2;
  private static final int MOST_ROUNDS = 3;
  private static final long PATIENCE_MILLIS = 8_000;
  private static final long PAUSE_MILLIS = 2 * DemoWorker.LEASE.toMillis();

  private final Output output;
  private final List<Process> workers = new ArrayList<>();

  DemoCommand(Output output) {
    this.output = output;
  }

  @Override
  public CommandSpec spec() {
    return Specs.command("demo", "Lets processes fight over a lock, kills and stops some.")
        .addOption(
            OptionSpec.builder("--break")
                .type(String.class)
                .arity("1")
                .hidden(true)
                .description("Break the fence or the lock, to see the checks fail.")
                .build());
  }

  @Override
  public int run(ParseResult arguments, List<String> rest) {
    String broken = arguments.matchedOptionValue("--break", "");
    try {
      Path directory = Files.createTempDirectory("pawl-demo-");
      try {
        return play(directory, broken);
      } finally {
        workers.forEach(Process::destroyForcibly);
        delete(directory);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new IllegalStateException("nobody interrupts the demo", e);
    }
  }

  private int play(Path directory, String broken) throws IOException, InterruptedException {
    output.result(
        WORKERS
            + " processes, one lock with a lease of "
            + DemoWorker.LEASE.toMillis()
            + " ms, two files.");
    for (int i = 0; i < WORKERS; i++) {
      workers.add(start(directory, broken));
    }
    DemoHistory history = new DemoHistory(directory);
    int killed = 0;
    int stopped = 0;
    int late = 0;
    for (int round = 0; round < MOST_ROUNDS && late < ROUNDS; round++) {
      Event victim = stopHolder(history);
      if (victim != null) {
        signal("KILL", victim.pid());
        killed++;
        awaitDeath(victim.pid());
        workers.add(start(directory, broken));
      }
      Event sleeper = stopHolder(history);
      if (sleeper != null) {
        Thread.sleep(PAUSE_MILLIS);
        // Nobody gets in if it was stopped inside a transaction: SQLite is locked then.
        late += awaitGrantAfter(history, sleeper) ? 1 : 0;
        signal("CONT", sleeper.pid());
        stopped++;
        awaitDone(history, sleeper);
      }
    }
    Files.createFile(directory.resolve("stop"));
    for (Process worker : workers) {
      if (!worker.waitFor(5, TimeUnit.SECONDS)) {
        worker.destroyForcibly().waitFor();
      }
    }
    return judge(history, new DemoFiles(directory, true), killed, stopped, late);
  }

  private int judge(DemoHistory history, DemoFiles files, int killed, int stopped, int late) {
    DemoCheck check = new DemoCheck(history.read());
    List<Event> grants = check.of(Kind.GRANT);
    List<String> failures = check.failures(files.readFenced());
    int refused = check.of(Kind.REFUSED).size();
    if (killed < 1 || late < 1) {
      failures.add(
          "only " + killed + " holders were killed and " + late + " stopped past their lease");
    }
    if (refused < late) {
      failures.add(
          late + " holders woke up too late, but only " + refused + " writes were refused");
    }
    long last = grants.stream().mapToLong(Event::token).max().orElse(0);
    output.result(
        grants.size()
            + " grants, the last with token "
            + last
            + "; "
            + killed
            + " holders killed, "
            + stopped
            + " stopped for "
            + PAUSE_MILLIS
            + " ms and continued");
    output.result(
        "unfenced file: "
            + check.of(Kind.UNFENCED).size()
            + " writes, it counts "
            + files.readUnfenced().value()
            + "; "
            + check.staleUnfencedWrites()
            + " stale writes went through");
    output.result(
        "fenced file:   "
            + check.of(Kind.ACCEPTED).size()
            + " writes, it counts "
            + files.readFenced().value()
            + "; "
            + refused
            + " stale writes refused");
    failures.stream().limit(5).forEach(failure -> output.result("FAILED: " + failure));
    if (!failures.isEmpty()) {
      return Exit.INTERNAL;
    }
    output.result(
        "All checks held: tokens only grew, no two leases were valid at once, nothing lost.");
    return Exit.OK;
  }

  /** Stops a worker in the middle of its work; null if none could be caught. */
  private @Nullable Event stopHolder(DemoHistory history) throws IOException, InterruptedException {
    long giveUpAt = System.nanoTime() + PATIENCE_MILLIS * 1_000_000;
    while (System.nanoTime() < giveUpAt) {
      List<Event> events = history.read();
      Event newest = events.isEmpty() ? null : events.get(events.size() - 1);
      if (newest != null && newest.kind() == Kind.GRANT && isAlive(newest.pid())) {
        signal("STOP", newest.pid());
        if (!hasWritten(history, newest)) {
          return newest;
        }
        signal("CONT", newest.pid());
      }
      Thread.sleep(1);
    }
    return null;
  }

  private boolean isAlive(long pid) {
    return workers.stream().anyMatch(worker -> worker.pid() == pid && worker.isAlive());
  }

  /** It was caught in time unless it has gone past its work already. */
  private static boolean hasWritten(DemoHistory history, Event grant) {
    return history.read().stream()
        .anyMatch(
            e -> e.token() == grant.token() && e.pid() == grant.pid() && e.kind() != Kind.GRANT);
  }

  private void awaitDeath(long pid) throws InterruptedException {
    await(() -> !isAlive(pid));
  }

  private static boolean awaitGrantAfter(DemoHistory history, Event grant)
      throws InterruptedException {
    return await(
        () ->
            history.read().stream()
                .anyMatch(e -> e.kind() == Kind.ACCEPTED && e.token() > grant.token()));
  }

  private static void awaitDone(DemoHistory history, Event grant) throws InterruptedException {
    await(
        () ->
            history.read().stream()
                .anyMatch(
                    e ->
                        e.kind() == Kind.DONE
                            && e.token() == grant.token()
                            && e.pid() == grant.pid()));
  }

  private interface Condition {
    boolean holds();
  }

  /** Returns when it holds, or without when it takes too long: the checks will tell. */
  private static boolean await(Condition condition) throws InterruptedException {
    long giveUpAt = System.nanoTime() + PATIENCE_MILLIS / 4 * 1_000_000;
    while (!condition.holds() && System.nanoTime() < giveUpAt) {
      Thread.sleep(5);
    }
    return condition.holds();
  }

  private static void signal(String name, long pid) throws IOException, InterruptedException {
    new ProcessBuilder("/bin/sh", "-c", "kill -s \"$1\" \"$2\"", "sh", name, Long.toString(pid))
        .redirectError(Redirect.DISCARD)
        .start()
        .waitFor();
  }

  private static Process start(Path directory, String broken) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx64m"));
    for (String property : List.of("org.sqlite.lib.path", "org.sqlite.lib.name")) {
      String value = System.getProperty(property);
      if (value != null) {
        command.add("-D" + property + "=" + value);
      }
    }
    command.addAll(List.of("--enable-native-access=ALL-UNNAMED", "-cp"));
    command.add(System.getProperty("java.class.path"));
    command.addAll(List.of(Main.class.getName(), "demo-worker", directory.toString()));
    if (!broken.isEmpty()) {
      command.addAll(List.of("--break", broken));
    }
    return new ProcessBuilder(command).inheritIO().start();
  }

  private static void delete(Path directory) throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    }
  }
}
