package io.pawl.cli.demo;

import io.pawl.cli.command.Exit;
import io.pawl.cli.command.Output;
import io.pawl.cli.demo.DemoHistory.Event;
import io.pawl.cli.demo.DemoHistory.Kind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Processes fight over a lock while some are killed and some are stopped for longer than their
 * lease, and then it looks at what they wrote down.
 */
final class LockDemo {

  private static final int WORKERS = 4;
  private static final int ROUNDS = 2;
  private static final int MOST_ROUNDS = 3;
  private static final long PATIENCE_MILLIS = 8_000;
  private static final long PAUSE_MILLIS = 2 * DemoWorker.LEASE.toMillis();

  private final Path directory;
  private final String broken;
  private final DemoProcesses processes;
  private final Output output;

  LockDemo(Path directory, String broken, DemoProcesses processes, Output output) {
    this.directory = directory;
    this.broken = broken;
    this.processes = processes;
    this.output = output;
  }

  int play() throws IOException, InterruptedException {
    output.result(
        WORKERS
            + " processes, one lock with a lease of "
            + DemoWorker.LEASE.toMillis()
            + " ms, two files.");
    for (int i = 0; i < WORKERS; i++) {
      start();
    }
    DemoHistory history = new DemoHistory(directory);
    int killed = 0;
    int stopped = 0;
    int late = 0;
    for (int round = 0; round < MOST_ROUNDS && late < ROUNDS; round++) {
      Event victim = stopHolder(history);
      if (victim != null) {
        DemoProcesses.signal("KILL", victim.pid());
        killed++;
        DemoProcesses.await(() -> !processes.isAlive(victim.pid()));
        start();
      }
      Event sleeper = stopHolder(history);
      if (sleeper != null) {
        Thread.sleep(PAUSE_MILLIS);
        // Nobody gets in if it was stopped inside a transaction: SQLite is locked then.
        late += awaitGrantAfter(history, sleeper) && !hasWritten(history, sleeper) ? 1 : 0;
        DemoProcesses.signal("CONT", sleeper.pid());
        stopped++;
        awaitDone(history, sleeper);
      }
    }
    Files.createFile(directory.resolve("stop"));
    processes.awaitEnd();
    return judge(history, new DemoFiles(directory, true), killed, stopped, late);
  }

  private void start() throws IOException {
    List<String> more = new ArrayList<>(List.of(Long.toString(ProcessHandle.current().pid())));
    if (!broken.isEmpty()) {
      more.addAll(List.of("--break", broken));
    }
    processes.start("demo-worker", directory, more);
  }

  private int judge(DemoHistory history, DemoFiles files, int killed, int stopped, int late) {
    DemoCheck check = new DemoCheck(history.read());
    List<Event> grants = check.of(Kind.GRANT);
    List<String> failures = check.failures(files.readFenced(), killed);
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
      if (newest != null && newest.kind() == Kind.GRANT && processes.isAlive(newest.pid())) {
        DemoProcesses.signal("STOP", newest.pid());
        if (!hasWritten(history, newest)) {
          return newest;
        }
        DemoProcesses.signal("CONT", newest.pid());
      }
      Thread.sleep(1);
    }
    return null;
  }

  /**
   * It was caught in time unless it has gone past its work already. On a busy machine a process may
   * run on for some milliseconds after the signal.
   */
  private static boolean hasWritten(DemoHistory history, Event grant) {
    return history.read().stream()
        .anyMatch(
            e -> e.token() == grant.token() && e.pid() == grant.pid() && e.kind() != Kind.GRANT);
  }

  private static boolean awaitGrantAfter(DemoHistory history, Event grant)
      throws InterruptedException {
    return DemoProcesses.await(
        () ->
            history.read().stream()
                .anyMatch(e -> e.kind() == Kind.ACCEPTED && e.token() > grant.token()));
  }

  private static void awaitDone(DemoHistory history, Event grant) throws InterruptedException {
    DemoProcesses.await(
        () ->
            history.read().stream()
                .anyMatch(
                    e ->
                        e.kind() == Kind.DONE
                            && e.token() == grant.token()
                            && e.pid() == grant.pid()));
  }
}
