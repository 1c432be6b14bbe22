package io.pawl.cli.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.cli.command.Output;
import io.pawl.concurrent.Uninterruptibly;
import io.pawl.options.LockOptions;
import io.pawl.spi.Mode;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A watch that fails itself, or cannot stop what it watches. */
class WatchTest {

  private static final Duration LEASE = Duration.ofSeconds(2);

  private static Output output(OutputStream stream) {
    return new Output(new PrintStream(stream), new PrintStream(stream));
  }

  private static RunReport quiet() {
    return new RunReport(output(OutputStream.nullOutputStream()), false);
  }

  /** As where no more memory is left, not even for a list of processes. */
  private static final class Failing extends ProcessTree {
    Failing(Process root) {
      super(root, "no-mark");
    }

    @Override
    void terminate(long graceMillis) {
      throw new OutOfMemoryError("says the test");
    }
  }

  private static RunOptions options(List<String> command, Duration maxRun) {
    return new RunOptions(
        "watched",
        Mode.EXCLUSIVE,
        command,
        false,
        null,
        false,
        LEASE,
        Duration.ZERO,
        maxRun,
        Duration.ofMillis(100),
        OnLost.TERM,
        "",
        false);
  }

  private static Watch watch(
      RunOptions options, Lease lease, RunReport report, Process child, ProcessTree tree) {
    return new Watch(options, lease, report, child, "no-mark", tree, Guard::uptime);
  }

  @Test
  void aCommandIsStoppedThoughItsWatchFailsWithAnError() throws Exception {
    List<String> command = List.of("/bin/sh", "-c", "exec sleep 600");
    RunOptions options = options(command, Duration.ofDays(1));
    Process child = new ProcessBuilder(command).start();
    try (Pawl pawl = Pawl.connect("memory:");
        Lease lease =
            pawl.lock("watched", LockOptions.defaults().lease(LEASE).renewal(false)).acquire()) {
      Watch watch = watch(options, lease, quiet(), child, new Failing(child));
      watch.start();

      assertThat(child.waitFor(20, TimeUnit.SECONDS)).isTrue();

      assertThat(watch.end(child.exitValue())).isEqualTo(Watch.Verdict.FAILED);
      lease.closeAsync();
    } finally {
      child.destroyForcibly();
    }
  }

  /** As where a child runs as another user: who asks for its end is refused. */
  private static final class Unkillable extends ProcessTree {
    private final CompletableFuture<Void> mayEnd;
    private final CompletableFuture<Void> refused = new CompletableFuture<>();

    Unkillable(Process root, CompletableFuture<Void> mayEnd) {
      super(root, "no-mark");
      this.mayEnd = mayEnd;
    }

    @Override
    boolean kill() {
      super.kill();
      return mayEnd.isDone();
    }

    @Override
    boolean killAfter(long millis) {
      refused.complete(null);
      Uninterruptibly.join(mayEnd);
      return true;
    }
  }

  @Test
  void theLockIsKeptWhileAProcessOfTheCommandCannotBeKilled() throws Exception {
    List<String> command = List.of("/bin/sh", "-c", "exec sleep 600");
    Process child = new ProcessBuilder(command).start();
    CompletableFuture<Void> mayEnd = new CompletableFuture<>();
    Unkillable tree = new Unkillable(child, mayEnd);
    try (Pawl pawl = Pawl.connect("memory:");
        Lease lease = pawl.lock("watched", LockOptions.defaults().lease(LEASE)).acquire()) {
      RunOptions options = options(command, Duration.ofMillis(50));
      Watch watch = watch(options, lease, quiet(), child, tree);
      watch.start();
      CompletableFuture<Watch.Verdict> end =
          CompletableFuture.supplyAsync(
              () -> {
                Uninterruptibly.join(tree.refused);
                return watch.end(143);
              });
      assertThat(tree.refused).succeedsWithin(Duration.ofSeconds(20));

      assertThat(end).isNotDone();
      assertThat(lease.isValid()).isTrue();

      mayEnd.complete(null);
      assertThat(end).succeedsWithin(Duration.ofSeconds(20)).isEqualTo(Watch.Verdict.TOO_LONG);
    } finally {
      mayEnd.complete(null);
      child.destroyForcibly();
    }
  }

  /** Not even this can be done any more. */
  private static final class Lost extends ProcessTree {
    private final CompletableFuture<Void> asked = new CompletableFuture<>();

    Lost(Process root) {
      super(root, "no-mark");
    }

    @Override
    boolean kill() {
      asked.complete(null);
      throw new OutOfMemoryError("says the test");
    }
  }

  @Test
  void aWatchThatCannotStopWhatItWatchedDoesNotSayThatItIsStopped() throws Exception {
    List<String> command = List.of("/bin/sh", "-c", "exec sleep 600");
    Process child = new ProcessBuilder(command).start();
    try (Pawl pawl = Pawl.connect("memory:");
        Lease lease = pawl.lock("watched", LockOptions.defaults().lease(LEASE)).acquire()) {
      RunOptions options = options(command, Duration.ofMillis(50));
      Lost tree = new Lost(child);
      Watch watch = watch(options, lease, quiet(), child, tree);
      watch.start();
      assertThat(tree.asked).succeedsWithin(Duration.ofSeconds(20));

      assertThat(watch.end(143)).isEqualTo(Watch.Verdict.UNSTOPPED);
    } finally {
      child.destroyForcibly();
    }
  }

  /** Here since it was started before; else for want of memory. */
  @Test
  void aCommandWhoseWatchCannotBeStartedIsStopped() throws Exception {
    List<String> command = List.of("/bin/sh", "-c", "exec sleep 600");
    Process child = new ProcessBuilder(command).start();
    try (Pawl pawl = Pawl.connect("memory:");
        Lease lease = pawl.lock("watched", LockOptions.defaults().lease(LEASE)).acquire()) {
      RunOptions options = options(command, Duration.ofDays(1));
      Watch watch = watch(options, lease, quiet(), child, new ProcessTree(child, "no-mark"));
      watch.start();

      assertThatThrownBy(watch::start).isInstanceOf(IllegalThreadStateException.class);

      assertThat(child.waitFor(20, TimeUnit.SECONDS)).isTrue();
      watch.end(137);
    } finally {
      child.destroyForcibly();
    }
  }

  /** A pipe that is full, and that nobody reads for now. */
  private static final class Blocked extends OutputStream {
    private final CompletableFuture<Void> read = new CompletableFuture<>();

    @Override
    public void write(int b) {
      Uninterruptibly.join(read);
    }
  }

  @Test
  void aCommandThatRunsTooLongIsStoppedThoughNobodyReadsStandardError() throws Exception {
    List<String> command = List.of("/bin/sh", "-c", "exec sleep 600");
    Process child = new ProcessBuilder(command).start();
    Blocked pipe = new Blocked();
    try (Pawl pawl = Pawl.connect("memory:");
        Lease lease = pawl.lock("watched", LockOptions.defaults().lease(LEASE)).acquire()) {
      RunOptions options = options(command, Duration.ofMillis(50));
      RunReport report = new RunReport(output(pipe), false);
      Watch watch = watch(options, lease, report, child, new ProcessTree(child, "no-mark"));
      watch.start();
      CompletableFuture<Watch.Verdict> end =
          child.onExit().thenApplyAsync(ended -> watch.end(ended.exitValue()));

      assertThat(end).succeedsWithin(Duration.ofSeconds(20)).isEqualTo(Watch.Verdict.TOO_LONG);
    } finally {
      pipe.read.complete(null);
      child.destroyForcibly();
    }
  }

  /** As where its host has no file to open left for a while, or an lxcfs fails. */
  @ParameterizedTest
  @ValueSource(strings = {"no-such-clock", "/dev/null"})
  void aCommandIsNotStoppedBecauseTheClockOfItsGuardCannotBeRead(String clock) throws Exception {
    List<String> command = List.of("/bin/sh", "-c", "read -r line; exit 5");
    Process child = new ProcessBuilder(command).start();
    CompletableFuture<Void> looked = new CompletableFuture<>();
    AtomicInteger looks = new AtomicInteger();
    LongSupplier uptime =
        () -> {
          int count = looks.incrementAndGet();
          if (count == 6) {
            looked.complete(null);
          }
          return count == 1 ? Guard.uptime() : Guard.uptime(Path.of(clock));
        };
    try (Pawl pawl = Pawl.connect("memory:");
        Lease lease = pawl.lock("watched", LockOptions.defaults().lease(LEASE)).acquire()) {
      RunOptions options = options(command, Duration.ofDays(1));
      ProcessTree tree = new ProcessTree(child, "no-mark");
      Watch watch = new Watch(options, lease, quiet(), child, "no-mark", tree, uptime);
      watch.start();
      assertThat(looked).succeedsWithin(Duration.ofSeconds(20));
      child.getOutputStream().close();

      assertThat(child.waitFor()).isEqualTo(5);
      assertThat(watch.end(5)).isEqualTo(Watch.Verdict.NOTHING_HAPPENED);
    } finally {
      child.destroyForcibly();
    }
  }
}
