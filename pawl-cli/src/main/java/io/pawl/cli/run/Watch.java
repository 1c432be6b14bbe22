package io.pawl.cli.run;

import io.pawl.Lease;
import io.pawl.cli.command.Exit;
import io.pawl.concurrent.DaemonThreads;
import io.pawl.concurrent.Uninterruptibly;
import java.time.Duration;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Looks after a command while it runs: stops it, with all that it has started, when its lease is
 * about to be lost or its time is up.
 *
 * <p><b>In time.</b> The lease is trusted until its local deadline, which lies before the moment at
 * which the store may grant the lock to another. {@code killAfter} and a margin before that
 * deadline the processes get TERM, and whatever is left of them gets KILL a margin before it. A
 * renewal that succeeds moves the deadline, so all this starts only after renewals have failed for
 * a good while. The {@link Guard} does the same a little later, for a pawl that is stopped itself.
 */
final class Watch {

  /** How the watch ended. */
  enum Verdict {
    NOTHING_HAPPENED,
    LOST,
    TOO_LONG,
    /** The watch failed, and has stopped the command. */
    FAILED,
    /** The watch failed, and so did stopping: some of it may go on until the guard acts. */
    UNSTOPPED
  }

  /** Most commands of a script are over by then, and need no guard. */
  private static final long GUARD_DELAY_MILLIS = 25;

  private static final long LONGEST_MARGIN_MILLIS = 1000;

  /** Between two looks at processes that cannot be killed. */
  private static final long UNKILLABLE_MILLIS = 500;

  private static final int TERM = 15;
  private static final int KILL = 9;

  private final RunOptions options;
  private final Lease lease;
  private final RunReport report;
  private final ProcessTree tree;
  private final LongSupplier uptime;
  private final String mark;
  private final long child;
  private final long marginMillis;
  private final long startedAt = System.nanoTime();
  private final Thread thread = DaemonThreads.named("watch", this::look);
  private @Nullable Guard guard;
  private long guardStopsAt;
  private boolean lost;
  private boolean warned;
  private boolean over;
  private volatile Verdict verdict = Verdict.NOTHING_HAPPENED;

  Watch(RunOptions options, Lease lease, RunReport report, Process child, String mark) {
    this(options, lease, report, child, mark, new ProcessTree(child, mark), Guard::uptime);
  }

  Watch(
      RunOptions options,
      Lease lease,
      RunReport report,
      Process child,
      String mark,
      ProcessTree tree,
      LongSupplier uptime) {
    this.options = options;
    this.lease = lease;
    this.report = report;
    this.tree = tree;
    this.uptime = uptime;
    this.mark = mark;
    this.child = child.pid();
    this.marginMillis = Math.min(LONGEST_MARGIN_MILLIS, options.lease().toMillis() / 10);
  }

  void start() {
    lease.onLost(this::wakeUp);
    try {
      thread.start();
    } catch (RuntimeException | Error e) { // of memory: unwatched it would outlive its lock
      tree.kill();
      throw e;
    }
  }

  private synchronized void wakeUp() {
    lost = true;
    notifyAll();
  }

  /**
   * The command has ended; answers once whatever had to be stopped is stopped.
   *
   * @param status 128 + n when signal n ended it
   */
  Verdict end(int status) {
    synchronized (this) {
      over = true;
      notifyAll();
    }
    Uninterruptibly.join(thread);
    boolean killed = status == Exit.SIGNAL + TERM || status == Exit.SIGNAL + KILL;
    if (verdict == Verdict.NOTHING_HAPPENED && killed && isGuardDue()) {
      verdict = Verdict.LOST;
      report.lost(lease, lease.isValid());
    }
    return verdict;
  }

  /**
   * Whether somebody was told that the command goes on without its lock. To be called at the end.
   */
  boolean hasWarned() {
    return warned;
  }

  /** Whether the guard has stopped the command, since this JVM stood still. */
  private boolean isGuardDue() {
    return guard != null && uptime.getAsLong() >= guardStopsAt;
  }

  private void look() {
    try {
      lookUntilOver();
    } catch (RuntimeException | Error e) {
      verdict = Verdict.UNSTOPPED; // should stopping it fail too, the guard is left to do it
      if (!tree.kill()) {
        awaitEnd();
      }
      verdict = Verdict.FAILED;
      dismissGuard();
      report.failed(lease, e);
      return;
    }
    dismissGuard();
  }

  private void lookUntilOver() {
    await(GUARD_DELAY_MILLIS);
    boolean stops = options.onLost() != OnLost.WARN;
    while (!isOver()) {
      long left = lease.remaining().toMillis();
      if (!warned && left <= (stops ? graceMillis() + marginMillis : 0)) {
        lost(left);
        if (stops) {
          return;
        }
      }
      long spare = options.maxRun().toMillis() - (System.nanoTime() - startedAt) / 1_000_000;
      if (spare <= 0) {
        tooLong();
        return;
      }
      if (stops) {
        tellGuard(left);
      }
      long untilStop = left - graceMillis() - marginMillis;
      await(Math.min(spare, warned || !stops ? spare : nextLook(untilStop)));
    }
  }

  /** Often enough for the guard to hear of each renewal. */
  private long nextLook(long untilStop) {
    return Math.max(1, Math.min(untilStop, options.lease().toMillis() / 6));
  }

  private long graceMillis() {
    return options.onLost() == OnLost.TERM ? options.killAfter().toMillis() : 0;
  }

  private void lost(long left) {
    if (options.onLost() == OnLost.WARN) {
      report.lostButRuns(lease);
      warned = true;
      return;
    }
    verdict = Verdict.LOST;
    report.lost(lease, left > 0);
    stop(graceMillis());
  }

  private void tooLong() {
    verdict = Verdict.TOO_LONG;
    report.tooLong(lease, options.maxRun());
    stop(options.killAfter().toMillis());
  }

  /** A lease that has gone altogether cannot be missed any more, one that is going can. */
  private void stop(long killAfterMillis) {
    long left = lease.remaining().toMillis();
    long grace =
        left > 0 && options.onLost() != OnLost.WARN
            ? Math.max(0, Math.min(killAfterMillis, left - marginMillis))
            : killAfterMillis;
    long now = uptime.getAsLong();
    if (guard != null && now >= 0) {
      guard.stopAt(now + (grace + marginMillis / 2) / 10, 0);
    }
    if (grace > 0) {
      tree.terminate(grace);
    }
    if (!tree.kill()) {
      awaitEnd();
    }
  }

  /** Whoever cannot be killed still works under the lock; a lease that is lost protects nobody. */
  private void awaitEnd() {
    report.stillRuns(lease);
    boolean gone = false;
    while (!gone && lease.isValid()) {
      gone = tree.killAfter(UNKILLABLE_MILLIS);
    }
  }

  /** The uptime is read first, so that a pause in between makes the guard early, never late. */
  private void tellGuard(long left) {
    long now = uptime.getAsLong();
    if (now < 0) {
      dismissGuard(); // who cannot be told of a renewal would stop the command under a valid lease
      guard = null;
      return;
    }
    long remaining = Math.min(left, lease.remaining().toMillis());
    long stopAt = now + (remaining - graceMillis() - marginMillis / 2) / 10;
    guardStopsAt = stopAt;
    if (guard == null) {
      guard = Guard.start(mark, child, stopAt, graceMillis());
    } else {
      guard.stopAt(stopAt, graceMillis());
    }
  }

  private void dismissGuard() {
    if (guard != null) {
      guard.dismiss();
    }
  }

  private synchronized boolean isOver() {
    return over;
  }

  /** Returns early when the command has ended or the lease is lost. */
  private synchronized void await(long millis) {
    if (!over && (!lost || warned)) {
      try {
        wait(Math.min(millis, Duration.ofDays(1).toMillis()));
      } catch (InterruptedException e) {
        throw new IllegalStateException("nobody interrupts the watch", e);
      }
    }
  }
}
