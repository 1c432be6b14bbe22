package io.pawl;

import io.pawl.concurrent.Durations;
import io.pawl.concurrent.UserFailures;
import io.pawl.engine.Engine;
import io.pawl.error.LeaseLostException;
import io.pawl.error.RunTooLongException;
import io.pawl.error.StoreException;
import io.pawl.options.LockOptions;
import io.pawl.spi.LockName;
import java.time.Duration;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A job that every machine starts by its own schedule and only one machine runs at a time: a start
 * that finds the lock busy is skipped. Obtained from {@link Pawl#job}. Immutable and thread-safe;
 * each method that sets something returns a changed copy.
 *
 * <p>The lock is renewed while the body runs and released when the body has ended, so nobody has to
 * guess how long a run takes. A body whose lease is lost is interrupted.
 */
public final class ScheduledJob {

  private static final Logger log = LoggerFactory.getLogger(ScheduledJob.class);

  private final Engine engine;
  private final String name;
  private final LockOptions options;
  private final Duration maxRun;

  ScheduledJob(Engine engine, String name, LockOptions options) {
    this(engine, LockName.check(name), options.strictOrder(), Durations.LONGEST);
  }

  private ScheduledJob(Engine engine, String name, LockOptions options, Duration maxRun) {
    this.engine = engine;
    this.name = name;
    this.options = options;
    this.maxRun = maxRun;
  }

  /**
   * Keeps the lock busy for at least {@code shortest} from the start of each run, even if the body
   * is faster, fails, or its process ends. So machines whose clocks differ by less than this do not
   * run a job twice. The store counts the time; nothing of this client has to live until it is
   * over.
   *
   * @param shortest 0 to 7 days
   */
  public ScheduledJob minHold(Duration shortest) {
    return new ScheduledJob(engine, name, options.minHold(shortest), maxRun);
  }

  /**
   * Limits a run: a body that runs longer than {@code longest} is interrupted, and {@link
   * RunTooLongException} is thrown when it has ended. A body that goes on all the same keeps the
   * lock until it ends, so that no other run begins beside it.
   *
   * @param longest at least 1 ms
   */
  public ScheduledJob maxRun(Duration longest) {
    if (longest.compareTo(Duration.ofMillis(1)) < 0) {
      throw new IllegalArgumentException(
          "longest run: " + longest + " leaves the job no time; give it at least 1 ms");
    }
    return new ScheduledJob(engine, name, options, longest);
  }

  /**
   * Runs {@code body} unless the lock is busy; returns whether it ran.
   *
   * @throws LeaseLostException when the lease was lost before the body ended normally
   * @throws RunTooLongException when the body had to be interrupted; an exception of the body,
   *     other than {@link InterruptedException}, takes precedence over both
   * @throws StoreException when the store fails, or has not answered for the client's patience and
   *     500 ms; an interrupt is kept meanwhile
   */
  public <X extends Exception> boolean run(LeaseBody<X> body) throws X {
    LeaseCall<Boolean, X> call =
        held -> {
          body.run(held);
          return true;
        };
    BodyRun run = new BodyRun(engine, OnLoss.INTERRUPT);
    Optional<Lease> lease = new DistributedLock(engine, name, options).tryAcquirePatiently();
    if (lease.isEmpty()) {
      engine.observer().skipped(name);
      return false;
    }
    return run.call(lease.get(), call, maxRun);
  }

  /**
   * Returns the same as a task for {@code ScheduledExecutorService} and its like, which end a
   * schedule at the first exception: this task logs a failure and returns. An interrupt of the
   * thread is kept as its interrupt flag.
   */
  public Runnable task(LeaseBody<Exception> body) {
    return () -> {
      try {
        run(body);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      } catch (Throwable e) {
        UserFailures.log(e, failure -> log.error("a run of job '{}' failed", name, failure));
      }
    };
  }

  @Override
  public String toString() {
    return "ScheduledJob[" + name + " on " + engine.store().describe() + "]";
  }
}
