package io.pawl.cli.run;

import io.pawl.DistributedLock;
import io.pawl.DistributedSemaphore;
import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.cli.command.Exit;
import io.pawl.cli.command.Failure;
import io.pawl.cli.command.Output;
import io.pawl.error.LeaseLostException;
import io.pawl.error.StoreException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.options.LockOptions;
import io.pawl.options.PawlOptions;
import io.pawl.spi.Inspectable;
import io.pawl.spi.Inspectable.LockView;
import io.pawl.spi.LockStore;
import io.pawl.spi.Mode;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Runs one command under one lock: take the lock, start the command, wait for it, give the lock
 * back. {@link Watch} looks after the time in between.
 */
final class Run {

  private static final long SHOW_SECONDS = 2;
  private static final Duration ANSWER_PATIENCE = Duration.ofSeconds(5);
  private static final long ANSWER_PAUSE_MILLIS = 100;
  private static final String EXPIRES_AT = "PAWL_EXPIRES_AT";

  private final RunOptions options;
  private final Supplier<LockStore> opening;
  private final Map<String, String> environment;
  private final RunReport report;
  private final LongSupplier nanos;
  private final Signals signals;
  private final long answerPatienceNanos;
  private long waitsSince;

  Run(
      RunOptions options,
      Supplier<LockStore> opening,
      Map<String, String> environment,
      Output output,
      LongSupplier nanos,
      Signals signals) {
    this.options = options;
    this.opening = opening;
    this.environment = environment;
    this.report = new RunReport(output, options.json());
    this.nanos = nanos;
    this.signals = signals;
    this.answerPatienceNanos = answerPatience(options.patience()).toNanos();
  }

  /** A store that is away is waited for as a lock that is busy, if a limit was asked for. */
  private static Duration answerPatience(@Nullable Duration patience) {
    return patience == null || patience.compareTo(ANSWER_PATIENCE) < 0 ? ANSWER_PATIENCE : patience;
  }

  int execute() {
    if (options.checksCommand()) {
      CommandPath.check(options.command().get(0), environment);
    }
    signals.catchAll();
    PawlOptions client = PawlOptions.defaults().application("pawl run").releaseAtShutdown(false);
    try (LockStore store = open();
        Pawl pawl = Pawl.over(store, client)) {
      Optional<Lease> lease = acquire(pawl);
      if (lease.isEmpty()) {
        report.busy(options.lock(), show(store), options.skipIfBusy());
        return options.skipIfBusy() ? Exit.OK : Exit.BUSY;
      }
      return runUnder(pawl, lease.get());
    } catch (InterruptedException e) {
      return Exit.SIGNAL + signals.pending();
    } finally {
      report.finish();
    }
  }

  /**
   * A server that is being started again is tried again: a job comes once a day. The wait for it
   * counts as one for the lock; opening a store that is there does not.
   */
  LockStore open() throws InterruptedException {
    waitsSince = nanos.getAsLong();
    boolean wasAway = false;
    while (true) {
      try {
        LockStore store = opening.get();
        waitsSince = wasAway ? waitsSince : nanos.getAsLong();
        return store;
      } catch (StoreUnavailableException e) {
        signals.throwIfAny();
        if (waitedNanos() >= answerPatienceNanos) {
          throw e;
        }
        wasAway = true;
      }
      Thread.sleep(ANSWER_PAUSE_MILLIS);
    }
  }

  /**
   * A store that does not answer within the client's patience is asked again: on a starved host a
   * cold JVM alone takes longer than that. It may have granted what was asked for before, until it
   * hears that this was given back, and may be slow to answer always: who asks again waits, for as
   * long as the store is asked. A lease under which the command will not start is given back.
   */
  Optional<Lease> acquire(Pawl pawl) throws InterruptedException {
    Lease held = null;
    boolean isReady = false;
    boolean again = false;
    try {
      while (true) {
        signals.throwIfAny();
        try {
          if (held == null) {
            held = ask(pawl, left(again)).orElse(null);
          }
          if (held != null) {
            renewIfShort(held);
          }
          isReady = true;
          return Optional.ofNullable(held);
        } catch (StoreUnavailableException e) {
          if (waitedNanos() >= answerPatienceNanos) {
            throw e;
          }
          again = true;
        } catch (LeaseLostException e) {
          if (options.patience() != null && waitedNanos() >= answerPatienceNanos) {
            throw e;
          }
          if (held != null) {
            giveBackUnused(pawl, held);
          }
          held = null;
          again = true;
        }
        Thread.sleep(ANSWER_PAUSE_MILLIS);
      }
    } finally {
      if (held != null && !isReady) {
        giveBackUnused(pawl, held);
      }
    }
  }

  /**
   * Who waited for a long lease gets it with less than half left, which {@code killAfter} may be.
   */
  private void renewIfShort(Lease lease) {
    Duration needed = options.killAfter().plus(options.lease().dividedBy(4));
    if (lease.remaining().compareTo(needed) < 0) {
      lease.extend(options.lease());
    }
  }

  private long waitedNanos() {
    return nanos.getAsLong() - waitsSince;
  }

  /**
   * Of the wait that was asked for, or of that for answers; null where there is no limit.
   *
   * @param again whether the store may have something of this client that is to be given back
   */
  private @Nullable Duration left(boolean again) {
    Duration asked = options.patience();
    if (asked == null) {
      return null;
    }
    Duration whole = again ? Duration.ofNanos(answerPatienceNanos) : asked;
    Duration left = whole.minusNanos(waitedNanos());
    return left.isNegative() ? Duration.ZERO : left;
  }

  private Optional<Lease> ask(Pawl pawl, @Nullable Duration patience) throws InterruptedException {
    LockOptions how =
        LockOptions.defaults()
            .lease(options.lease())
            .minHold(options.minHold())
            .strictOrder()
            .note(options.holder());
    if (options.mode() instanceof Mode.Permits permits) {
      DistributedSemaphore semaphore = pawl.semaphore(options.lock(), permits.capacity(), how);
      return patience == null
          ? Optional.of(semaphore.acquire(permits.wanted()))
          : semaphore.tryAcquire(permits.wanted(), patience);
    }
    DistributedLock lock =
        options.mode() == Mode.SHARED
            ? pawl.readWriteLock(options.lock(), how).readLock()
            : pawl.lock(options.lock(), how);
    return patience == null ? Optional.of(lock.acquire()) : lock.tryAcquire(patience);
  }

  /** Who is in the way, as far as the store tells. */
  private LockView show(LockStore store) {
    LockView unknown = new LockView(options.lock(), null, 0, List.of(), List.of());
    if (!(store instanceof Inspectable inspectable)) {
      return unknown;
    }
    try {
      return inspectable
          .show(options.lock())
          .toCompletableFuture()
          .get(SHOW_SECONDS, TimeUnit.SECONDS)
          .orElse(unknown);
    } catch (ExecutionException | TimeoutException | InterruptedException e) {
      return unknown;
    }
  }

  int runUnder(Pawl pawl, Lease lease) throws InterruptedException {
    if (signals.pending() != 0) {
      giveBackUnused(pawl, lease);
      return Exit.SIGNAL + signals.pending();
    }
    String mark = Long.toHexString(ThreadLocalRandom.current().nextLong() | Long.MIN_VALUE);
    Process command = start(pawl, lease, mark);
    Watch watch = new Watch(options, lease, report, command, mark);
    watch.start();
    signals.forwardTo(command);
    int status = await(command);
    signals.keep();
    Watch.Verdict verdict = watch.end(status);
    if (verdict == Watch.Verdict.LOST) {
      lease.closeAsync();
      return Exit.LOST;
    }
    if (verdict == Watch.Verdict.UNSTOPPED) {
      return Exit.INTERNAL; // the lock is left to run out, which the guard does not wait for
    }
    if (verdict == Watch.Verdict.FAILED) {
      lease.close();
      return Exit.INTERNAL;
    }
    boolean cutShort = verdict == Watch.Verdict.TOO_LONG && status == 0;
    int exit = cutShort ? Exit.SIGNAL + 15 : status;
    return giveBack(lease, exit, watch.hasWarned());
  }

  private Process start(Pawl pawl, Lease lease, String mark) {
    ProcessBuilder builder = new ProcessBuilder(options.command()).inheritIO();
    Map<String, String> variables = builder.environment();
    String expiresAt = Instant.now().plus(lease.remaining()).toString();
    variables.put("PAWL_LOCK", lease.lock());
    variables.put("PAWL_TOKEN", Long.toString(lease.token()));
    variables.put("PAWL_HOLDER", options.holder());
    variables.put(EXPIRES_AT, expiresAt);
    variables.merge(ProcessTree.MARK_VARIABLE, mark, (outer, inner) -> outer + "," + inner);
    LauncherEnvironment.undo(variables);
    report.acquired(lease, expiresAt);
    Set<ProcessHandle> others = ProcessTree.children();
    try {
      return builder.start();
    } catch (IOException e) {
      giveBackUnused(pawl, lease);
      throw new Failure(
          Exit.NOT_EXECUTABLE,
          "command '" + options.command().get(0) + "': cannot be executed: " + e.getMessage());
    } catch (RuntimeException | Error e) { // of threads: it runs, and nobody would watch it
      if (ProcessTree.ofFailedStart(others, mark).kill()) {
        lease.closeAsync();
      }
      throw e;
    }
  }

  /**
   * Nothing has run under it: its loss is no news, and it owes no shortest hold, which the store
   * would keep for one that is merely closed. A host that cannot start the command keeps no other
   * from it.
   */
  private void giveBackUnused(Pawl pawl, Lease lease) {
    lease.closeAsync();
    if (options.minHold().isZero()) {
      return;
    }
    try {
      pawl.evict(lease.lock(), lease.token());
    } catch (StoreException | UnsupportedOperationException e) {
      report.staysBusy(lease, e);
    }
  }

  /** The command's status; 128 + n when signal n ended it. */
  private static int await(Process command) {
    while (true) {
      try {
        return command.waitFor();
      } catch (InterruptedException e) {
        // a signal that came just before the command started: it has been forwarded
      }
    }
  }

  int giveBack(Lease lease, int exit, boolean isLossTold) {
    try {
      lease.close();
    } catch (LeaseLostException e) {
      if (!isLossTold) {
        report.lostAfterwards(lease, exit);
      }
      if (options.onLost() != OnLost.WARN) {
        return Exit.LOST;
      }
    }
    report.ended(lease, exit);
    return exit;
  }
}
