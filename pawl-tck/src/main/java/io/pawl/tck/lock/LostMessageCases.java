package io.pawl.tck.lock;

import static io.pawl.tck.rig.Bench.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.Lease;
import io.pawl.error.StoreException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.options.LockOptions;
import io.pawl.spi.Claim;
import io.pawl.spi.Standing;
import io.pawl.tck.rig.Bench;
import io.pawl.tck.rig.Bench.Running;
import io.pawl.tck.rig.FaultyStore;
import io.pawl.tck.rig.FaultyStore.Fault;
import io.pawl.tck.rig.FaultyStore.Verb;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Requests, replies and bells that get lost or come late. */
public abstract class LostMessageCases extends LockCases {

  protected LostMessageCases(Bench bench) {
    super(bench);
  }

  @Test
  void p1_oneHolder_anAcquireWhoseReplyWasLostHoldsWhatWasGranted() throws Exception {
    String lock = bench.lock("acquireReply");
    network.next(Verb.ATTEMPT, Fault.LOSE_REPLY, Fault.LOSE_REQUEST, Fault.LOSE_REPLY);

    try (Lease lease = lockHere(lock).acquire()) {
      List<Object> lost = network.lostReplies();
      assertThat(lost).hasSize(2);
      assertThat(lost.get(0)).isEqualTo(lost.get(1));
      assertThat(((Standing.Held) lost.get(0)).token()).isEqualTo(lease.token());
    }
    assertThat(lockThere(lock).tryAcquire()).isPresent();
  }

  @Test
  void p1_oneHolder_aTryAcquireWhoseReplyWasLostHoldsWhatWasGranted() {
    String lock = bench.lock("tryReply");
    network.next(Verb.ATTEMPT, Fault.LOSE_REPLY);

    try (Lease lease = lockHere(lock).tryAcquire().orElseThrow()) {
      assertThat(network.lostReplies()).isEqualTo(List.of(tokensOf(lease)));
    }
    assertThat(lockThere(lock).tryAcquire()).isPresent();
  }

  private static Standing.Held tokensOf(Lease lease) {
    return new Standing.Held(lease.token(), lease.token());
  }

  @Test
  void p1_oneHolder_aReplyPastTheLeaseGrantsNothing() throws Exception {
    String lock = bench.lock("latereply");
    network.next(Verb.ATTEMPT, Fault.HOLD_REPLY);
    Running<Lease> asking =
        bench.start(() -> here.lock(lock, bench.shortLived().renewal(false)).acquire());
    eventually(() -> network.calls(Verb.ATTEMPT) == 1);
    Bench.passed(network.lastSignOfLifeNanos(), bench.shortLease().plusMillis(1));
    Lease other = lockThere(lock).tryAcquire(Bench.PATIENCE).orElseThrow();

    network.resume();
    assertThat(other.isValid()).isTrue();
    assertThat(asking.task().isDone()).isFalse();
    other.close();

    assertThat(asking.result().token()).isGreaterThan(other.token());
    assertThat(network.calls(Verb.ATTEMPT)).isGreaterThan(1);
  }

  /** The store was slow once: it is asked once more, and slow again it is an error. */
  @Test
  void p1_oneHolder_aTryAcquireAnsweredPastTheLeaseIsGrantedAnewOrFailsAndIsNeverBusy()
      throws Exception {
    String lock = bench.lock("lateTry");
    network.next(Verb.ATTEMPT, Fault.HOLD_REPLY);
    LockOptions options = LockOptions.defaults().lease(Claim.MIN_LEASE).renewal(false);
    Running<Optional<Lease>> asking = bench.start(() -> here.lock(lock, options).tryAcquire());
    eventually(() -> network.calls(Verb.ATTEMPT) == 1);
    Bench.passed(network.lastSignOfLifeNanos(), Claim.MIN_LEASE.plusMillis(1));

    network.resume();

    try {
      assertThat(asking.result()).isPresent();
    } catch (StoreException slow) {
      assertThat(slow).isInstanceOf(StoreUnavailableException.class);
    }
    assertComesFree(lock);
  }

  @Test
  void p4_onlyTheOwner_aStaleReleaseLeavesTheNewLockAlone() throws Exception {
    String lock = bench.lock("staleRelease");
    Lease first = lockHere(lock).acquire();
    network.next(Verb.WITHDRAW, Fault.LOSE_REPLY, Fault.HOLD_REQUEST);
    CompletableFuture<Void> closing = first.closeAsync();
    Lease anew = lockHere(lock).acquire();
    eventually(() -> network.calls(Verb.WITHDRAW) == 2);

    network.resume();
    closing.get(20, TimeUnit.SECONDS);

    assertThat(lockThere(lock).tryAcquire()).isEmpty();
    assertThat(anew.isValid()).isTrue();
    assertThat(anew.token()).isGreaterThan(first.token());
    anew.close();
    assertThat(lockThere(lock).tryAcquire()).isPresent();
  }

  @Test
  void p8_nothingLeftBehind_aReleaseWhoseRequestWasLostIsTriedAgain() throws Exception {
    String lock = bench.lock("lostRelease");
    Lease lease = lockHere(lock).acquire();
    network.next(Verb.WITHDRAW, Fault.LOSE_REQUEST, Fault.LOSE_REQUEST);

    lease.close();

    assertThat(lockThere(lock).tryAcquire()).isPresent();
  }

  @Test
  void p8_nothingLeftBehind_aRequestThatArrivesAfterItsWaitEndedIsRefused() {
    String lock = bench.lock("lateRequest");
    FaultyStore silent = bench.keep(new FaultyStore(bench.store()));
    silent.next(Verb.ATTEMPT, Fault.HOLD_REQUEST);
    Running<Optional<Lease>> asking =
        bench.start(
            () -> bench.over(silent).lock(lock, Bench.LONG).tryAcquire(Duration.ofMillis(50)));
    eventually(() -> silent.answers(Verb.WITHDRAW) == 1);
    eventually(asking.task()::isDone);

    silent.resume();

    eventually(() -> silent.answers(Verb.ATTEMPT) == 1);
    assertThat(lockThere(lock).tryAcquire()).isPresent();
  }

  @Test
  void p8_nothingLeftBehind_aRequestThatArrivesAfterItsCancellationTakesNoPlace() throws Exception {
    String lock = bench.lock("lateWaiter");
    Lease lease = lockThere(lock).acquire();
    network.next(Verb.ATTEMPT, Fault.HOLD_REQUEST);
    CompletableFuture<Optional<Lease>> future =
        lockHere(lock).tryAcquireAsync(Duration.ofMinutes(1));
    eventually(() -> network.calls(Verb.ATTEMPT) == 1);
    future.cancel(false);
    eventually(() -> network.answers(Verb.WITHDRAW) == 1);

    network.resume();
    lease.close();

    assertThat(lockThere(lock).tryAcquire()).isPresent();
  }

  @Test
  void p6_someoneGetsIn_aWaiterIsServedWhenItsBellIsLost() throws Exception {
    String lock = bench.lock("lostBell");
    network.loseBells();
    Lease lease = lockThere(lock).acquire();
    Running<Lease> waiting = standInLine(() -> here.lock(lock, bench.shortLived()).acquire());

    lease.close();

    assertThat(waiting.result().token()).isGreaterThan(lease.token());
  }

  @Test
  void p6_someoneGetsIn_aStrictWaiterIsServedWhenItsBellIsLost() throws Exception {
    String lock = bench.lock("lostStrictBell");
    network.loseBells();
    Lease lease = lockThere(lock).acquire();
    LockOptions strict = bench.shortLived().strictOrder().renewal(false);
    Running<Lease> waiting = standInLine(() -> here.lock(lock, strict).acquire());

    lease.close();

    assertThat(waiting.result().token()).isGreaterThan(lease.token());
  }

  @Test
  void p6_someoneGetsIn_aWaiterIsServedThoughItsSignsOfLifeGetLost() throws Exception {
    String lock = bench.lock("lostRenewals");
    Lease lease = lockThere(lock).acquire();
    Running<Lease> waiting = standInLine(() -> here.lock(lock, bench.shortLived()).acquire());
    Fault[] faults = {Fault.LOSE_REQUEST, Fault.LOSE_REPLY, Fault.LOSE_REQUEST, Fault.THROW};
    network.loseBells().next(Verb.RENEW, faults);
    network.next(Verb.ATTEMPT, Fault.LOSE_REPLY, Fault.LOSE_REQUEST);
    eventually(() -> network.calls(Verb.RENEW) > 0);

    lease.close();

    assertThat(waiting.result().token()).isGreaterThan(lease.token());
  }
}
