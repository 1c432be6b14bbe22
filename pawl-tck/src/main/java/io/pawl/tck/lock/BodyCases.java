package io.pawl.tck.lock;

import static io.pawl.tck.rig.Bench.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.DistributedLock;
import io.pawl.Lease;
import io.pawl.LeaseBody;
import io.pawl.OnLoss;
import io.pawl.ScheduledJob;
import io.pawl.error.LeaseLostException;
import io.pawl.error.RunTooLongException;
import io.pawl.options.LockOptions;
import io.pawl.tck.rig.Bench;
import io.pawl.tck.rig.FaultyStore.Fault;
import io.pawl.tck.rig.FaultyStore.Verb;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Bodies and jobs that run under a lock: who gives it back, who is told what. */
public abstract class BodyCases extends LockCases {

  private static final Duration PATIENT = Duration.ofSeconds(20);

  protected BodyCases(Bench bench) {
    super(bench);
  }

  private DistributedLock shortHere(String lock) {
    return here.lock(lock, bench.shortLived());
  }

  private void loseAllRenewals() {
    network.on(Verb.RENEW, Fault.LOSE_REQUEST);
  }

  /** Until its lease is lost; heals the network for whoever comes next. */
  private void untilLost(Lease lease) {
    eventually(() -> !lease.isValid());
  }

  @Test
  void aBodyRunsUnderTheLockThatIsGivenBackAfterIt() throws Exception {
    String lock = bench.lock("body");
    boolean ran =
        lockHere(lock)
            .run(
                PATIENT,
                lease -> {
                  assertThat(lease.isValid()).isTrue();
                  assertThat(lockThere(lock).tryAcquire()).isEmpty();
                });
    assertThat(ran).isTrue();
    Lease next = lockThere(lock).tryAcquire().orElseThrow();
    assertThat(lockHere(lock).run(Duration.ZERO, lease -> {})).isFalse();
    assertThat(lockHere(lock).call(Duration.ofMillis(10), Lease::token)).isEmpty();
    next.close();
    assertThat(lockHere(lock).call(PATIENT, Lease::token).orElseThrow())
        .isGreaterThan(next.token());
  }

  @Test
  void whatABodyThrowsIsThrownAndTheLockGivenBack() {
    String lock = bench.lock("throws");
    assertThatThrownBy(
            () ->
                lockHere(lock)
                    .run(
                        PATIENT,
                        lease -> {
                          throw new IOException("the body's own");
                        }))
        .isInstanceOf(IOException.class)
        .hasNoSuppressedExceptions();
    assertComesFree(lock);
  }

  @Test
  void p5_lossIsTold_toTheCallerThoughTheBodySucceeded() {
    String lock = bench.lock("lost");
    loseAllRenewals();
    assertThatThrownBy(() -> shortHere(lock).run(PATIENT, this::untilLost))
        .isInstanceOf(LeaseLostException.class);
  }

  @Test
  void whenBodyAndLeaseFailTheBodysExceptionIsThrownAndTheOtherSuppressedInIt() {
    String lock = bench.lock("both");
    loseAllRenewals();
    assertThatThrownBy(
            () ->
                shortHere(lock)
                    .run(
                        PATIENT,
                        lease -> {
                          untilLost(lease);
                          throw new IOException("the body's own");
                        }))
        .isInstanceOf(IOException.class)
        .satisfies(
            e ->
                assertThat(e.getSuppressed())
                    .hasSize(1)
                    .hasOnlyElementsOfType(LeaseLostException.class));
  }

  @Test
  void aLossInterruptsTheBodyWhereAskedAndTheInterruptEndsWithIt() {
    loseAllRenewals();
    assertThatThrownBy(
            () ->
                shortHere(bench.lock("asleep"))
                    .run(PATIENT, OnLoss.INTERRUPT, lease -> new CountDownLatch(1).await()))
        .isInstanceOf(LeaseLostException.class);
    assertThat(Thread.currentThread().isInterrupted()).isFalse();

    assertThatThrownBy(
            () ->
                shortHere(bench.lock("busy"))
                    .run(
                        PATIENT,
                        OnLoss.INTERRUPT,
                        lease -> eventually(Thread.currentThread()::isInterrupted)))
        .isInstanceOf(Exception.class);
    assertThat(Thread.interrupted()).as("the flag is taken back").isFalse();
  }

  @Test
  void anInterruptOfTheCallersOwnIsKept() throws Exception {
    String lock = bench.lock("own");
    assertThat(
            lockHere(lock)
                .run(PATIENT, OnLoss.INTERRUPT, lease -> Thread.currentThread().interrupt()))
        .isTrue();
    assertThat(Thread.interrupted()).isTrue();
    assertComesFree(lock);

    // long enough for the body's own interrupt to come first: two would be one flag
    LockOptions lasting = LockOptions.defaults().lease(bench.shortLease().multipliedBy(5));
    loseAllRenewals();
    assertThatThrownBy(
            () ->
                here.lock(lock, lasting)
                    .run(
                        PATIENT,
                        OnLoss.INTERRUPT,
                        lease -> {
                          Thread.currentThread().interrupt();
                          while (lease.isValid()) {
                            Thread.onSpinWait();
                          }
                        }))
        .isInstanceOf(LeaseLostException.class);
    assertThat(Thread.interrupted()).isTrue();
  }

  @Test
  void aJobRunsOnceAndIsSkippedWhileItsLockIsBusy() throws Exception {
    ScheduledJob job = here.job(bench.lock("job"), Bench.LONG);
    AtomicBoolean beside = new AtomicBoolean();
    boolean ran = job.run(lease -> beside.set(there.job(bench.lock("job")).run(other -> {})));
    assertThat(ran).isTrue();
    assertThat(beside).isFalse();
    assertThat(there.job(bench.lock("job")).run(lease -> {})).isTrue();
    here.job(bench.lock("job"))
        .task(
            lease -> {
              throw new IOException("logged, not thrown");
            })
        .run();
    assertComesFree(bench.lock("job"));
  }

  @Test
  void aShortestHoldOutlastsTheBodyAndEndsByItself() throws Exception {
    String lock = bench.lock("minHold");
    Duration shortest = bench.shortLease().multipliedBy(2);
    long startedAt = System.nanoTime();
    assertThat(here.job(lock).minHold(shortest).run(lease -> {})).isTrue();
    assertThat(here.job(lock).run(lease -> {})).isFalse();
    assertComesFree(lock);
    Bench.assertKeptFor(shortest, startedAt);
  }

  @Test
  void aShortestHoldOutlastsABodyThatFails() {
    String lock = bench.lock("minHoldFails");
    ScheduledJob job = here.job(lock, Bench.LONG).minHold(Bench.LONG_LEASE);
    assertThatThrownBy(
            () ->
                job.run(
                    lease -> {
                      throw new IOException("the body's own");
                    }))
        .isInstanceOf(IOException.class);
    assertThat(lockThere(lock).tryAcquire()).isEmpty();
  }

  @Test
  void aShortestHoldIsNotSharedWithTheNextOfTheSameClient() throws Exception {
    String lock = bench.lock("minHoldNext");
    Duration shortest = bench.shortLease();
    DistributedLock slow =
        here.lock(lock, bench.shortLived().strictOrder().minHold(shortest).note("slow"));
    Lease busy = lockThere(lock).acquire();
    Lease another = lockHere(bench.lock("minHoldBeside")).acquire();
    var first = slow.tryAcquireAsync(PATIENT);
    eventually(() -> network.answers(Verb.ATTEMPT) >= 2);
    var second = slow.tryAcquireAsync(PATIENT);
    eventually(() -> network.answers(Verb.ATTEMPT) >= 3);
    long releasedAt = System.nanoTime();
    busy.close();
    Lease lease = first.get().orElseThrow();
    lease.close();

    Lease next = second.get().orElseThrow();

    Bench.assertKeptFor(shortest, releasedAt);
    assertThat(next.token()).isGreaterThan(lease.token());
    next.close();
    another.close();
  }

  /** A regression: an end right after the grant gave the lock back before its time. */
  @Test
  void aShortestHoldGrantedFromTheLineLastsHoweverSoonItIsGivenBack() throws Exception {
    for (int round = 0; round < 5; round++) {
      String lock = bench.lock("minHoldFromTheLine" + round);
      Duration shortest = bench.shortLease();
      Lease busy = lockThere(lock).acquire();
      int attempts = network.answers(Verb.ATTEMPT);
      var late = here.lock(lock, bench.shortLived().minHold(shortest)).tryAcquireAsync(PATIENT);
      var given = late.thenAccept(lease -> lease.orElseThrow().close());
      eventually(() -> network.answers(Verb.ATTEMPT) > attempts);
      long releasedAt = System.nanoTime();
      busy.close();
      given.get();

      Lease next = lockThere(lock).tryAcquire(PATIENT).orElseThrow();

      Bench.assertKeptFor(shortest, releasedAt);
      next.close();
    }
  }

  @Test
  void theEndOfALeaseReturnsWhenTheStoreKnowsOfItThoughTheHoldLasts() throws Exception {
    String lock = bench.lock("minHoldEnd");
    Lease lease = here.lock(lock, Bench.LONG.minHold(Bench.LONG_LEASE)).acquire();
    lease.close();
    assertThat(network.answers(Verb.WITHDRAW)).isEqualTo(1);
    assertThat(lockHere(lock).tryAcquire()).isEmpty();
    assertThat(lockThere(lock).tryAcquire()).isEmpty();
  }

  @Test
  void aShortestHoldIsOwedByNobodyWhoNeverGotTheLock() {
    String lock = bench.lock("minHoldUnused");
    network.next(Verb.ATTEMPT, Fault.HOLD_REPLY);
    DistributedLock slow = here.lock(lock, Bench.LONG.minHold(Bench.LONG_LEASE));
    var asking = slow.tryAcquireAsync(PATIENT);
    eventually(() -> network.calls(Verb.ATTEMPT) == 1);
    asking.cancel(false);
    network.resume();
    assertComesFree(lock);
  }

  @Test
  void aShortestHoldOutlastsItsClientByTheStoresClock() throws Exception {
    String lock = bench.lock("minHoldClosed");
    String waited = bench.lock("minHoldWaited");
    Duration shortest = bench.shortLease().multipliedBy(2);
    Lease busy = lockThere(waited).acquire();
    var late = here.lock(waited, bench.shortLived().minHold(shortest)).tryAcquireAsync(PATIENT);
    eventually(() -> network.answers(Verb.ATTEMPT) > 0);
    busy.close();
    late.get();
    long startedAt = System.nanoTime();
    assertThat(here.job(lock, bench.shortLived()).minHold(shortest).run(lease -> {})).isTrue();
    network.on(Verb.WITHDRAW, Fault.DENY);

    here.close();

    assertComesFree(waited);
    Bench.assertKeptFor(bench.shortLease(), startedAt);
    assertComesFree(lock);
    Bench.assertKeptFor(shortest, startedAt);
  }

  @Test
  void aBodyThatRunsTooLongIsInterruptedAndKeepsItsLockUntilItEnds() throws Exception {
    String lock = bench.lock("maxRun");
    AtomicReference<Boolean> free = new AtomicReference<>();
    ScheduledJob job = here.job(lock, Bench.LONG).maxRun(Duration.ofMillis(50));
    assertThatThrownBy(
            () ->
                job.run(
                    lease -> {
                      try {
                        new CountDownLatch(1).await();
                      } finally {
                        free.set(lockThere(lock).tryAcquire().isPresent());
                      }
                    }))
        .isInstanceOf(RunTooLongException.class);
    assertThat(Thread.currentThread().isInterrupted()).isFalse();
    assertThat(free).hasValue(false);
    assertComesFree(lock);
    assertThat(here.job(lock, Bench.LONG).run(lease -> {})).isTrue();
  }

  @Test
  void theLockOfABodyThatRunsTooLongIsRenewedUntilItEnds() {
    String lock = bench.lock("maxRunLong");
    LockOptions options = LockOptions.defaults().lease(bench.shortLease().multipliedBy(5));
    AtomicReference<Boolean> kept = new AtomicReference<>();
    ScheduledJob job = here.job(lock, options).maxRun(Duration.ofMillis(50));
    assertThatThrownBy(
            () ->
                job.run(
                    lease -> {
                      try {
                        new CountDownLatch(1).await();
                      } catch (InterruptedException e) {
                        int renewals = network.answers(Verb.RENEW);
                        eventually(() -> network.answers(Verb.RENEW) > renewals + 3);
                        kept.set(lease.isValid() && lockThere(lock).tryAcquire().isEmpty());
                      }
                    }))
        .isInstanceOf(RunTooLongException.class);
    assertThat(kept).hasValue(true);
    assertComesFree(lock);
  }

  @Test
  void aJobWhoseLeaseIsLostIsInterrupted() {
    AtomicBoolean interrupted = new AtomicBoolean();
    // long enough for the body to begin
    LockOptions lasting = LockOptions.defaults().lease(bench.shortLease().multipliedBy(5));
    loseAllRenewals();
    ScheduledJob job = here.job(bench.lock("lostJob"), lasting);
    assertThatThrownBy(
            () ->
                job.run(
                    lease -> {
                      try {
                        new CountDownLatch(1).await(20, TimeUnit.SECONDS);
                      } catch (InterruptedException e) {
                        interrupted.set(true);
                      }
                    }))
        .isInstanceOf(LeaseLostException.class);
    assertThat(interrupted).isTrue();
    assertThat(Thread.currentThread().isInterrupted()).isFalse();
  }

  @Test
  void timesThatCannotBeAreRefused() {
    ScheduledJob job = here.job(bench.lock("times"));
    assertThatThrownBy(() -> job.maxRun(Duration.ZERO))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> job.minHold(Duration.ofMillis(-1)))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> job.minHold(Duration.ofDays(8)))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> lockHere(bench.lock("t")).run(Duration.ofMillis(-1), lease -> {}))
        .isInstanceOf(IllegalArgumentException.class);
  }

  /** As Kotlin and Scala throw it. */
  @Test
  void p8_nothingLeftBehind_aBodyMayThrowWhatIsNoException() {
    Throwable odd = new Throwable("of another language");
    String lock = bench.lock("odd");
    LeaseBody<RuntimeException> body = lease -> BodyCases.<RuntimeException>sneak(odd);

    assertThatThrownBy(() -> lockHere(lock).run(PATIENT, body)).isSameAs(odd);

    assertThat(lockThere(lock).tryAcquire()).isPresent();
  }

  @SuppressWarnings("unchecked")
  private static <X extends Throwable> void sneak(Throwable thrown) throws X {
    throw (X) thrown;
  }
}
