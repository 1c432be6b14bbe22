package io.pawl.lab.stage;

import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.error.LeaseLostException;
import io.pawl.options.LockOptions;
import java.time.Duration;
import java.util.Optional;

/** Steps that several schedules play with Pawl. */
public final class PawlSteps {

  private PawlSteps() {}

  /** A holder in a JVM of its own is killed, and another waits: it has to get in. */
  public static Finding holderIsKilled(Stage stage, Service service) throws Exception {
    return holderIsKilled(stage, stage.url(service));
  }

  /** As {@link #holderIsKilled(Stage, Service)}, by Pawl's {@code url}. */
  public static Finding holderIsKilled(Stage stage, String url) throws Exception {
    Trace trace = stage.trace();
    Actor a = stage.actor(url);
    long token = a.awaitHold();
    trace.holds("A", "acquire, lease 1000 ms → token " + token, token, () -> true);
    a.close();
    trace.dies("A", "kill -9");
    return nextGetsIn(stage, stage.pawl(url), "B");
  }

  /** What follows on the death of a holder that had {@link Stage#LEASE}. */
  public static Finding nextGetsIn(Stage stage, Pawl pawl, String actor) throws Exception {
    long startNanos = System.nanoTime();
    Optional<Lease> lease = granted(stage, pawl, actor);
    long millis = (System.nanoTime() - startNanos) / 1_000_000;
    if (lease.isEmpty()) {
      return new Finding(Verdict.STALLED, actor + " was not granted the lock", millis + " ms");
    }
    return Finding.standsUnlessShared(
        stage.trace(),
        actor + " is granted the lock " + millis + " ms after it asked",
        "time of acquire");
  }

  /** Waits for the lock for as long as a dead holder may delay it; its own lease is long. */
  public static Optional<Lease> granted(Stage stage, Pawl pawl, String actor)
      throws InterruptedException {
    return granted(stage, pawl, actor, LockOptions.defaults());
  }

  /** As {@link #granted(Stage, Pawl, String)}, with a lease of its own. */
  public static Optional<Lease> granted(Stage stage, Pawl pawl, String actor, LockOptions options)
      throws InterruptedException {
    Duration wait = Stage.LEASE.plus(Stage.SLACK);
    Optional<Lease> lease = pawl.lock(stage.name(), options).tryAcquire(wait);
    lease.ifPresentOrElse(
        it -> stage.holds(actor, "acquire", it),
        () -> stage.trace().refused(actor, "acquire → not within " + wait.toMillis() + " ms"));
    return lease;
  }

  /** Takes a lock that is free, with a lease that nobody renews: its holder may outlive it. */
  public static Lease holdsWithoutRenewal(Stage stage, Pawl pawl, String actor)
      throws InterruptedException {
    LockOptions options = Stage.shortLease().renewal(false);
    Lease lease = pawl.lock(stage.name(), options).acquire();
    stage.holds(actor, "acquire, " + Stage.LEASE.toMillis() + " ms, not renewed", lease);
    return lease;
  }

  /** Notes whether the lock is busy for {@code pawl}. */
  public static boolean isRefused(Stage stage, Pawl pawl, String actor) {
    Optional<Lease> lease = pawl.lock(stage.name()).tryAcquire();
    lease.ifPresentOrElse(
        it -> stage.holds(actor, "tryAcquire", it),
        () -> stage.trace().refused(actor, "tryAcquire → busy"));
    return lease.isEmpty();
  }

  /** A body takes longer than its lease, which is renewed meanwhile: nobody gets in beside it. */
  public static Finding outlivesItsLease(Stage stage, Service service) throws Exception {
    Trace trace = stage.trace();
    Pawl ours = stage.pawl(service);
    Lease a = ours.lock(stage.name(), Stage.renewedLease()).acquire();
    stage.holds("A", "acquire, " + Stage.RENEWED.toMillis() + " ms, renewed", a);
    boolean refused = isRefusedFor(stage, stage.pawl(service), "B", Stage.LONGER);
    boolean kept = a.isValid();
    trace.step("A", "isValid → " + kept);
    a.close();
    trace.ends("A", "close");
    return refused && kept
        ? Finding.standsUnlessShared(
            trace,
            "the lease is renewed while its holder lives; B is refused for longer than it",
            "witness")
        : new Finding(Verdict.TWO_HOLDERS, "the hold ended beside its living holder", "isValid");
  }

  /** Notes whether the lock is busy for {@code pawl} for as long as {@code wait}. */
  public static boolean isRefusedFor(Stage stage, Pawl pawl, String actor, Duration wait)
      throws InterruptedException {
    Optional<Lease> lease = pawl.lock(stage.name()).tryAcquire(wait);
    lease.ifPresentOrElse(
        it -> stage.holds(actor, "tryAcquire", it),
        () -> stage.trace().refused(actor, "tryAcquire for " + wait.toMillis() + " ms → busy"));
    return lease.isEmpty();
  }

  /** Closes a lease that is over, and notes that it says so. */
  public static void closesLate(Stage stage, Lease lease, String actor) {
    try {
      lease.close();
      stage.trace().ends(actor, "close");
    } catch (LeaseLostException e) {
      stage.trace().ends(actor, "close → LeaseLostException");
    }
  }
}
