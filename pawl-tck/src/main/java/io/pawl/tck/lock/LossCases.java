package io.pawl.tck.lock;

import static io.pawl.tck.rig.Bench.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.DistributedLock;
import io.pawl.Lease;
import io.pawl.error.LeaseLostException;
import io.pawl.options.LockObserver;
import io.pawl.options.PawlOptions;
import io.pawl.tck.rig.Bench;
import io.pawl.tck.rig.Bench.Running;
import io.pawl.tck.rig.FaultyStore.Fault;
import io.pawl.tck.rig.FaultyStore.Verb;
import io.pawl.tck.rig.FencedRegister;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Renewal, deadlines, and what a holder is told when its lease cannot be trusted any more. */
public abstract class LossCases extends LockCases {

  protected LossCases(Bench bench) {
    super(bench);
  }

  private Lease shortHere(String lock) throws InterruptedException {
    return here.lock(lock, bench.shortLived()).acquire();
  }

  /** A lease of {@code here} that will not be renewed, and the lease of another that follows. */
  private Lease overtaken(Lease lease) throws Exception {
    network.on(Verb.RENEW, Fault.LOSE_REQUEST);
    return lockThere(lease.lock()).tryAcquire(Bench.PATIENCE).orElseThrow();
  }

  @Test
  void p1_oneHolder_aLeaseIsInvalidBeforeAnotherIsGranted() throws Exception {
    for (int round = 0; round < 3; round++) {
      Lease lease = shortHere(bench.lock("deadline" + round));
      network.on(Verb.RENEW, Fault.LOSE_REQUEST);
      Running<Boolean> overlap =
          bench.start(
              () -> {
                Lease next = lockThere(lease.lock()).acquire();
                return lease.isValid() && next.isValid();
              });
      assertThat(overlap.result()).isFalse();
      network.heal();
    }
  }

  @Test
  void p1_oneHolder_aLeaseCountsFromBeforeItsRequestWasSent() throws Exception {
    Duration length = bench.shortLease().multipliedBy(5);
    network.next(Verb.ATTEMPT, Fault.HOLD_REPLY);
    Running<Lease> asking =
        bench.start(() -> here.lock(bench.lock("sent"), Bench.LONG.lease(length)).acquire());
    eventually(() -> network.calls(Verb.ATTEMPT) == 1);
    Bench.passed(network.lastSignOfLifeNanos(), length.dividedBy(5));

    network.resume();

    assertEndsInTime(asking.result(), length);
  }

  @Test
  void p1_oneHolder_aRenewalCountsFromBeforeItsRequestWasSent() throws Exception {
    Duration length = bench.shortLease().multipliedBy(5);
    network.next(Verb.RENEW, Fault.HOLD_REPLY);
    Lease lease = here.lock(bench.lock("renewal"), Bench.LONG.lease(length)).acquire();
    eventually(() -> network.calls(Verb.RENEW) == 1);
    Bench.passed(network.lastSignOfLifeNanos(), length.dividedBy(5));
    Duration before = lease.remaining();

    network.resume();

    eventually(() -> lease.remaining().compareTo(before) > 0);
    assertEndsInTime(lease, length);
  }

  @Test
  void p1_oneHolder_aGrantByBellCountsFromTheWaitersLastSignOfLife() throws Exception {
    String lock = bench.lock("bell");
    Duration length = bench.shortLease().multipliedBy(5);
    Lease held = lockThere(lock).acquire();
    Running<Lease> waiting = standInLine(() -> here.lock(lock, Bench.LONG.lease(length)).acquire());
    Bench.passed(network.lastSignOfLifeNanos(), length.dividedBy(5));

    held.close();

    assertEndsInTime(waiting.result(), length);
  }

  /** It ends before the store, which heard of it later than it was sent, may let another in. */
  private void assertEndsInTime(Lease lease, Duration length) {
    long endsAtNanos = System.nanoTime() + lease.remaining().toNanos();
    assertThat(endsAtNanos).isLessThanOrEqualTo(network.lastSignOfLifeNanos() + length.toNanos());
  }

  @Test
  void p3_fencedSafety_aLateWriteOfALostHolderIsRefused(@TempDir Path directory) throws Exception {
    FencedRegister register = new FencedRegister(directory.resolve("register"));
    Lease lease = shortHere(bench.lock("fenced"));

    Lease next = overtaken(lease);

    assertThat(register.write(next.token())).isTrue();
    assertThat(register.write(lease.token())).isFalse();
  }

  @Test
  void p4_onlyTheOwner_closingALostLeaseLeavesTheNextHolderAlone() throws Exception {
    Lease lease = shortHere(bench.lock("closeLost"));
    Lease next = overtaken(lease);
    network.heal();

    assertThatThrownBy(lease::close).isInstanceOf(LeaseLostException.class);
    lease.close();
    lease.closeAsync().get(20, TimeUnit.SECONDS);

    assertThat(lockHere(lease.lock()).tryAcquire()).isEmpty();
    assertThat(next.isValid()).isTrue();
    next.close();
  }

  @Test
  void p5_lossIsTold_onceWhenRenewalIsBlocked() throws Exception {
    AtomicInteger observed = new AtomicInteger();
    LockObserver observer =
        new LockObserver() {
          @Override
          public void lost(String lock, long token, String why) {
            observed.incrementAndGet();
          }
        };
    try (var client = bench.over(network, PawlOptions.defaults().observer(observer))) {
      Lease lease = client.lock(bench.lock("blocked"), bench.shortLived()).acquire();
      AtomicInteger lost = new AtomicInteger();
      lease.onLost(
          () -> {
            throw new IllegalStateException("a callback of the case fails");
          });
      lease.onLost(lost::incrementAndGet);
      Lease next = overtaken(lease);

      assertThat(lease.isValid()).isFalse();
      assertThat(lost).hasValue(1);
      assertThat(lease.remaining()).isZero();
      assertThatThrownBy(lease::ensureValid)
          .isInstanceOf(LeaseLostException.class)
          .hasMessageContaining(lease.lock());
      assertThatThrownBy(lease::close)
          .isInstanceOfSatisfying(
              LeaseLostException.class,
              e -> assertThat(e.token()).isEqualTo(lease.token()).isLessThan(next.token()));
      AtomicInteger late = new AtomicInteger();
      lease.onLost(late::incrementAndGet);
      eventually(() -> late.get() == 1);
      assertThat(lost).hasValue(1);
      assertThat(observed).hasValue(1);
    }
  }

  @Test
  void p5_lossIsTold_thoughNobodyAsks() throws Exception {
    Lease lease = shortHere(bench.lock("unasked"));
    AtomicInteger lost = new AtomicInteger();
    lease.onLost(lost::incrementAndGet);

    network.on(Verb.RENEW, Fault.LOSE_REQUEST);

    eventually(() -> lost.get() == 1);
    assertThat(lease.isValid()).isFalse();
  }

  @Test
  void p5_lossIsTold_whenTheStoreNeverAnswersARenewal() throws Exception {
    Lease lease = shortHere(bench.lock("silence"));
    AtomicInteger lost = new AtomicInteger();
    lease.onLost(lost::incrementAndGet);

    network.on(Verb.RENEW, Fault.HOLD_REQUEST);

    eventually(() -> lost.get() == 1);
    network.heal();
    network.resume();
    assertThat(lease.isValid()).isFalse();
    assertComesFree(lease.lock());
    assertThat(lost).hasValue(1);
  }

  @Test
  void p5_lossIsTold_neverAfterACloseInTime() throws Exception {
    Lease lease = shortHere(bench.lock("inTime"));
    AtomicInteger lost = new AtomicInteger();
    lease.onLost(lost::incrementAndGet);
    lease.close();
    long closed = System.nanoTime();
    lease.onLost(lost::incrementAndGet);

    Bench.passed(closed, bench.shortLease().multipliedBy(2));

    assertThat(lease.isValid()).isFalse();
    assertThat(lost).hasValue(0);
  }

  @Test
  void p5_lossIsTold_andTheLockCanBeTakenAnew() throws Exception {
    String lock = bench.lock("anew");
    Lease lease = shortHere(lock);
    overtaken(lease).close();
    network.heal();

    eventually(() -> isTakenAnewAndRenewed(lock, lease.token()));
  }

  /** False where a busy machine kept so short a lease from being renewed in time. */
  private boolean isTakenAnewAndRenewed(String lock, long lostToken) throws InterruptedException {
    Lease again = shortHere(lock);
    try {
      assertThat(again.token()).isGreaterThan(lostToken);
      int renewals = network.answers(Verb.RENEW);
      eventually(() -> network.answers(Verb.RENEW) > renewals + 2 || !again.isValid());
      return again.isValid();
    } finally {
      again.closeAsync();
    }
  }

  @Test
  void p5_lossIsTold_whenALeaseWithoutRenewalEnds() throws Exception {
    String lock = bench.lock("noRenewal");
    Lease lease = here.lock(lock, bench.shortLived().renewal(false)).acquire();
    AtomicInteger lost = new AtomicInteger();
    lease.onLost(lost::incrementAndGet);

    Lease next = lockThere(lock).tryAcquire(Bench.PATIENCE).orElseThrow();

    assertThat(lease.isValid()).isFalse();
    assertThat(lost).hasValue(1);
    assertThat(network.calls(Verb.RENEW)).as("the first gives it its full length").isLessThan(2);
    next.close();
  }

  @Test
  void p1_oneHolder_renewalKeepsALeaseFarBeyondItsLength() throws Exception {
    assertOutlives(
        lease -> here.lock(bench.lock("beyond" + lease.toMillis()), Bench.LONG.lease(lease)));
  }

  @Test
  void p6_someoneGetsIn_aWaitFarBeyondTheLeaseIsServedInTheEnd() throws Exception {
    String lock = bench.lock("longWait");
    Lease held = lockThere(lock).acquire();
    Running<Lease> waiting = standInLine(() -> shortHere(lock));
    long start = System.nanoTime();
    Bench.passed(start, bench.shortLease().multipliedBy(3));
    assertThat(waiting.task().isDone()).isFalse();

    held.close();

    assertThat(waiting.result().token()).isGreaterThan(held.token());
  }

  @Test
  void p5_lossIsTold_neverForARenewalThatFailsAndIsTriedAgain() throws Exception {
    assertOutlives(
        lease -> {
          network.next(Verb.RENEW, Fault.LOSE_REQUEST, Fault.NONE, Fault.LOSE_REPLY, Fault.THROW);
          return here.lock(bench.lock("failing" + lease.toMillis()), Bench.LONG.lease(lease));
        });
  }

  private interface LockOfLease {
    DistributedLock of(Duration lease);
  }

  /**
   * The lease stays valid for many times its length. A machine that stalls for so long that the
   * loss was right proves nothing, so then it is tried again with a longer one.
   */
  private void assertOutlives(LockOfLease locks) throws InterruptedException {
    Duration length = bench.shortLease().multipliedBy(2);
    for (int round = 0; round < 4; round++) {
      Lease lease = locks.of(length).acquire();
      long start = System.nanoTime();
      long end = start + 3 * length.toNanos();
      long[] beat = {start, 0};
      eventually(
          () -> {
            long now = System.nanoTime();
            beat[1] = Math.max(beat[1], now - beat[0]);
            beat[0] = now;
            return !lease.isValid() || now > end;
          });
      if (lease.isValid()) {
        lease.close();
        return;
      }
      network.heal();
      assertThat(beat[1]).as("lost without a stall").isGreaterThan(length.toNanos() / 4);
      length = length.multipliedBy(2);
    }
    throw new AssertionError("the machine stalls too often to tell");
  }

  @Test
  void anExtensionWhoseAnswerIsLostIsRepeated() throws Exception {
    Lease lease = here.lock(bench.lock("extended"), Bench.LONG.renewal(false)).acquire();
    network.next(Verb.RENEW, Fault.LOSE_REPLY);
    lease.extend(Bench.LONG_LEASE);
    assertThat(network.calls(Verb.RENEW)).isGreaterThan(1);
    assertThat(lease.isValid()).isTrue();
    assertThat(lockThere(lease.lock()).tryAcquire()).isEmpty();
    lease.close();
    assertThatThrownBy(() -> lease.extend(Bench.LONG_LEASE))
        .isInstanceOf(IllegalStateException.class);
    assertThat(lockThere(lease.lock()).tryAcquire()).isPresent();
  }

  @Test
  void p4_onlyTheOwner_aLeaseThatRanOutIsNotExtended() throws Exception {
    String lock = bench.lock("extendedLate");
    Lease lease = here.lock(lock, bench.shortLived().renewal(false)).acquire();
    eventually(() -> !lease.isValid());
    Lease next = lockThere(lock).tryAcquire(Bench.PATIENCE).orElseThrow();
    assertThatThrownBy(() -> lease.extend(Bench.LONG_LEASE)).isInstanceOf(LeaseLostException.class);
    assertThat(next.isValid()).isTrue();
  }
}
