package io.pawl.cli.demo;

import io.pawl.DistributedLock;
import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.cli.command.Command;
import io.pawl.cli.command.Exit;
import io.pawl.cli.command.Specs;
import io.pawl.cli.demo.DemoFiles.Content;
import io.pawl.cli.demo.DemoHistory.Kind;
import io.pawl.error.LeaseLostException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.options.LockOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.ParseResult;

/**
 * One process of the demo: takes the lock again and again and counts both files up, and is careless
 * enough to write without asking whether its lease is still valid.
 */
public final class DemoWorker implements Command {

  static final Duration LEASE = Duration.ofSeconds(1);

  private static final long WORK_MILLIS = 30;

  @Override
  public CommandSpec spec() {
    return Specs.command("demo-worker", "One process of the demo.")
        .addPositional(
            PositionalParamSpec.builder().index("0").type(String.class).paramLabel("DIR").build())
        .addPositional(
            PositionalParamSpec.builder().index("1").type(long.class).paramLabel("DEMO").build())
        .addOption(Specs.value("WHAT", "What to break: fence or lock.", "--break"));
  }

  @Override
  public int run(ParseResult arguments, List<String> rest) {
    Path directory = Path.of(arguments.matchedPositionalValue(0, "."));
    Optional<ProcessHandle> demo = ProcessHandle.of(arguments.matchedPositionalValue(1, 0L));
    String broken = arguments.matchedOptionValue("--break", "");
    DemoHistory history = new DemoHistory(directory);
    DemoFiles files = new DemoFiles(directory, !broken.equals("fence"));
    try (Pawl pawl = Pawl.connect("sqlite:" + directory.resolve("locks.db"))) {
      LockOptions options = LockOptions.defaults().lease(LEASE).strictOrder().note("demo");
      // A broken lock is one that each process has for itself.
      String lock = broken.equals("lock") ? "demo-" + ProcessHandle.current().pid() : "demo";
      while (!directory.resolve("stop").toFile().exists()
          && demo.filter(ProcessHandle::isAlive).isPresent()) {
        long askedAt = System.nanoTime();
        Optional<Lease> lease = take(pawl.lock(lock, options));
        if (lease.isPresent()) {
          work(lease.get(), askedAt, history, files);
        }
      }
      return Exit.OK;
    } catch (InterruptedException e) {
      return Exit.INTERNAL;
    }
  }

  private static Optional<Lease> take(DistributedLock lock) throws InterruptedException {
    try {
      return lock.tryAcquire(Duration.ofMillis(500));
    } catch (StoreUnavailableException e) {
      return Optional.empty(); // somebody was stopped inside a transaction
    }
  }

  private static void work(Lease lease, long askedAt, DemoHistory history, DemoFiles files)
      throws InterruptedException {
    long gotAt = System.nanoTime();
    long token = lease.token();
    long unfenced = files.readUnfenced().value();
    long fenced = files.readFenced(token).value();
    history.add(Kind.GRANT, token, askedAt, gotAt);
    long validAt = lastValid(lease, askedAt);
    history.add(Kind.VALID, token, validAt, 0);
    Content mine = new Content(token, fenced + 1);
    if (!files.writeFenced(mine, () -> history.add(Kind.ACCEPTED, token, mine.value(), 0))) {
      history.add(Kind.REFUSED, token, mine.value(), 0);
    }
    files.writeUnfenced(new Content(token, unfenced + 1));
    history.add(Kind.UNFENCED, token, unfenced + 1, 0);
    history.add(Kind.DONE, token, 0, 0);
    try {
      lease.close();
    } catch (LeaseLostException e) {
      // what it means for the files is what the demo shows
    }
  }

  /**
   * Works for a while; the clock is read before the question, so that a pause makes it early. A
   * lease that was never found valid, since the process was stopped before, counts from when it was
   * asked for.
   */
  private static long lastValid(Lease lease, long askedAt) throws InterruptedException {
    long endsAt = System.nanoTime() + WORK_MILLIS * 1_000_000;
    long validAt = askedAt;
    while (System.nanoTime() < endsAt) {
      Thread.sleep(2);
      long now = System.nanoTime();
      if (lease.isValid()) {
        validAt = now;
      }
    }
    return validAt;
  }
}
