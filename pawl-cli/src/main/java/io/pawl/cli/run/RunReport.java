package io.pawl.cli.run;

import io.pawl.Lease;
import io.pawl.cli.command.Failure;
import io.pawl.cli.command.Json;
import io.pawl.cli.command.LockText;
import io.pawl.cli.command.Output;
import io.pawl.concurrent.DaemonThreads;
import io.pawl.concurrent.Uninterruptibly;
import io.pawl.spi.DurationText;
import io.pawl.spi.Inspectable.LockView;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What {@code pawl run} says, on standard error: nothing while all is well, one line for a person
 * otherwise; or with {@code --json} one object for each step.
 *
 * <p>On a thread of its own: standard error may be a pipe that nobody reads just now, and neither a
 * command that has to be stopped nor its lock waits for that.
 */
final class RunReport {

  private final Output output;
  private final boolean json;
  private @Nullable Thread last;

  RunReport(Output output, boolean json) {
    this.output = output;
    this.json = json;
  }

  void acquired(Lease lease, String expiresAt) {
    if (json) {
      event(event("acquired", lease).put("expiresAt", expiresAt));
    }
  }

  void ended(Lease lease, int exit) {
    if (json) {
      event(event("ended", lease).put("exit", exit));
    }
  }

  void busy(String lock, LockView view, boolean skipped) {
    if (json) {
      event(
          new Json()
              .put("event", skipped ? "skipped" : "busy")
              .put("lock", lock)
              .put("holders", LockText.claims(view.holders())));
    } else if (!skipped) {
      String holders =
          view.holders().isEmpty()
              ? ""
              : ": " + LockText.describe(view.holders().get(0)) + " holds it";
      remark("lock '" + lock + "' is busy" + holders);
    }
  }

  void lost(Lease lease, boolean goingOn) {
    String what =
        goingOn
            ? "cannot be renewed and is about to be lost; stopping the command"
            : "is lost, another may hold the lock; stopping the command";
    say("lost", lease, what);
  }

  void lostButRuns(Lease lease) {
    say("lost", lease, "is lost, another may hold the lock; the command goes on as asked");
  }

  void lostAfterwards(Lease lease, int exit) {
    say(
        "lost",
        lease,
        "was lost while the command ran (which ended with " + exit + "); another may have run too");
  }

  void tooLong(Lease lease, Duration maxRun) {
    say(
        "tooLong",
        lease,
        "the command ran longer than " + DurationText.format(maxRun) + " (--max-run); stopping it");
  }

  void failed(Lease lease, Throwable cause) {
    say("failed", lease, Failure.of(cause).message() + "; the command was stopped");
  }

  void stillRuns(Lease lease) {
    say(
        "stillRuns",
        lease,
        "some processes of the command cannot be killed; the lock is kept until they end (see ps)");
  }

  void staysBusy(Lease lease, Throwable cause) {
    say("staysBusy", lease, "stays busy until --min-hold is over: " + Failure.of(cause).message());
  }

  private void event(Json event) {
    tell(() -> output.event(event));
  }

  private void remark(String line) {
    tell(() -> output.remark(line));
  }

  private synchronized void tell(Runnable words) {
    Thread before = last;
    Thread next =
        DaemonThreads.named(
            "report",
            () -> {
              if (before != null) {
                Uninterruptibly.join(before);
              }
              words.run();
            });
    try {
      next.start();
      last = next;
    } catch (OutOfMemoryError noThread) {
      words.run();
    }
  }

  /** Waits until all has been said. */
  void finish() {
    Thread all;
    synchronized (this) {
      all = last;
    }
    if (all != null) {
      Uninterruptibly.join(all);
    }
  }

  private void say(String event, Lease lease, String what) {
    if (json) {
      event(event(event, lease).put("message", what));
    } else {
      String subject = event.equals("lost") ? "lease of lock '" : "lock '";
      String colon = event.equals("lost") ? "' " : "': ";
      remark(subject + lease.lock() + colon + what);
    }
  }

  private static Json event(String event, Lease lease) {
    return new Json().put("event", event).put("lock", lease.lock()).put("token", lease.token());
  }
}
