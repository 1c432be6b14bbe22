package io.pawl;

import io.pawl.concurrent.Durations;
import io.pawl.concurrent.Interruptible;
import io.pawl.concurrent.Time;
import io.pawl.engine.Engine;
import io.pawl.error.LeaseLostException;
import io.pawl.error.RunTooLongException;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One body under one lease, on the thread that makes this: interrupts it if asked to, gives the
 * lease back, and decides which exception the caller sees.
 */
final class BodyRun {

  private static final Time.Pending NONE = () -> {};

  private final Engine engine;
  private final OnLoss onLoss;
  private final Interruptible loss;
  private final Interruptible overrun;
  private volatile @Nullable RunTooLongException tooLong;

  /** To be made before the lock is asked for: what fails here leaves nothing held. */
  BodyRun(Engine engine, OnLoss onLoss) {
    this.engine = engine;
    this.onLoss = onLoss;
    this.loss = new Interruptible(engine.workers().interrupts());
    this.overrun = new Interruptible(engine.workers().interrupts());
  }

  <T, X extends Exception> T call(Lease lease, LeaseCall<T, X> body) throws X {
    return call(lease, body, Durations.LONGEST);
  }

  /**
   * @param maxRun after which the body is interrupted
   */
  <T, X extends Exception> T call(Lease lease, LeaseCall<T, X> body, Duration maxRun) throws X {
    if (!lease.loan().isTrusted()) { // this thread may have stood still since the grant
      throw Objects.requireNonNull(end(lease, null), "its loss");
    }
    Time.Pending timeout = NONE;
    T result;
    try {
      if (onLoss == OnLoss.INTERRUPT) {
        lease.loan().loss().hook(loss::interrupt);
      }
      if (maxRun.compareTo(Durations.LONGEST) < 0) {
        timeout = engine.time().after(maxRun.toNanos(), () -> stop(lease, maxRun));
      }
      result = Objects.requireNonNull(body.call(lease), "the body's result is null");
    } catch (Throwable e) { // checked ones that are no Exception too, of other languages
      timeout.cancel();
      RuntimeException instead = end(lease, e);
      if (instead != null) {
        throw instead;
      }
      throw e;
    }
    timeout.cancel();
    RuntimeException trouble = end(lease, null);
    if (trouble != null) {
      throw trouble;
    }
    return result;
  }

  private void stop(Lease lease, Duration maxRun) {
    tooLong = new RunTooLongException(lease.lock(), lease.token(), maxRun);
    overrun.interrupt();
  }

  /** Answers what is to be thrown in place of {@code failure}. */
  private @Nullable RuntimeException end(Lease lease, @Nullable Throwable failure) {
    boolean interrupted =
        loss.isHeard() || overrun.isHeard(); // else it was by the work around this
    loss.end();
    overrun.end();
    RuntimeException trouble = tooLong;
    try {
      lease.close();
    } catch (LeaseLostException lost) {
      if (trouble == null) {
        trouble = lost;
      } else {
        trouble.addSuppressed(lost);
      }
    }
    if (failure == null || trouble == null) {
      return trouble;
    }
    if (interrupted && failure instanceof InterruptedException) {
      trouble.addSuppressed(failure);
      return trouble;
    }
    failure.addSuppressed(trouble);
    return null;
  }
}
