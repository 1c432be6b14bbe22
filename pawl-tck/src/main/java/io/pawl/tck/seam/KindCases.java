package io.pawl.tck.seam;

import static io.pawl.tck.rig.Bench.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.DistributedSemaphore;
import io.pawl.Lease;
import io.pawl.error.LockKindException;
import io.pawl.spi.Claim;
import io.pawl.spi.Inspectable;
import io.pawl.spi.Inspectable.LockView;
import io.pawl.spi.Kind;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import io.pawl.tck.rig.Bench;
import io.pawl.tck.rig.SeamClient;
import io.pawl.tck.rig.SeamClient.Hold;
import io.pawl.tck.rig.SeamClient.RecordingBell;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Semaphores at an {@link Inspectable} store: how they are shown, and changed. */
public abstract class KindCases extends SeamCases {

  protected KindCases(Bench bench) {
    super(bench);
  }

  private LockView show(String lock) {
    return SeamClient.answer(() -> inspector().show(lock)).orElseThrow();
  }

  private List<LockView> list() {
    return SeamClient.answer(() -> inspector().list(1_000_000)).stream()
        .filter(view -> view.name().startsWith(bench.namespace()))
        .toList();
  }

  private Inspectable inspector() {
    return (Inspectable) here.store();
  }

  private boolean setKind(String lock, Kind kind) {
    return SeamClient.answer(() -> inspector().setKind(lock, kind));
  }

  private SeamClient.Ask askPermits(SeamClient client, String lock, int wanted, int capacity) {
    return client.ask(lock).mode(new Mode.Permits(wanted, capacity));
  }

  @Test
  void permitsAreShownAsTheyWereAsked() {
    String lock = bench.lock("2/5");
    Mode mode = new Mode.Permits(2, 5);
    here.ask(lock).mode(mode).take();
    assertThat(show(lock).kind()).isEqualTo(Kind.semaphore(5));
    assertThat(show(lock).holders()).extracting(Inspectable.ClaimView::mode).containsExactly(mode);
  }

  @Test
  void theKindIsShownAlsoOfALockGivenBack() {
    String lock = bench.lock("kind");
    here.withdraw(askPermits(here, lock, 2, 5).take());
    assertThat(show(lock).kind()).isEqualTo(Kind.semaphore(5));
  }

  @Test
  void morePermitsAreHandedOutAtOnce() {
    String lock = bench.lock("grow");
    askPermits(here, lock, 2, 2).take();
    RecordingBell bell = new RecordingBell();
    Claim waiter = askPermits(there, lock, 2, 2).claim();
    there.attempt(waiter, bell);

    assertThat(setKind(lock, Kind.semaphore(4))).isTrue();

    eventually(bell::hasRungHeld);
    assertThat(there.renew(waiter)).isInstanceOf(Standing.Held.class);
    assertThat(show(lock).kind()).isEqualTo(Kind.semaphore(4));
    assertThat(here.attempt(askPermits(here, lock, 1, 2).claim()))
        .isEqualTo(new Standing.OtherKind(Kind.semaphore(4)));
    askPermits(here, lock, 1, 4).stand();
  }

  @Test
  void withFewerPermitsHoldersDrainAndWhoeverWantsTooManyLosesItsPlace() {
    String lock = bench.lock("shrink");
    Hold two = askPermits(here, lock, 2, 3).take();
    Hold one = askPermits(here, lock, 1, 3).take();
    Claim tooMany = askPermits(there, lock, 3, 3).stand();
    Claim next = askPermits(there, lock, 2, 3).stand();

    assertThat(setKind(lock, Kind.semaphore(2))).isTrue();

    assertThat(here.renew(two.claim())).isEqualTo(two.tokens());
    assertThat(here.renew(one.claim())).isEqualTo(one.tokens());
    assertThat(there.renew(tooMany)).isEqualTo(Standing.GONE);
    here.withdraw(one);
    assertThat(there.renew(next)).isInstanceOf(Standing.Waiting.class);
    here.withdraw(two);
    assertThat(there.renew(next)).isInstanceOf(Standing.Held.class);
  }

  @Test
  void permitsThatAreTakenAwayGoToTheNext() {
    String lock = bench.lock("evicted");
    Hold two = askPermits(here, lock, 2, 2).take();
    Claim next = askPermits(there, lock, 1, 2).stand();

    assertThat(SeamClient.answer(() -> inspector().evict(lock, two.tokens().token()))).isTrue();

    assertThat(here.renew(two.claim())).isEqualTo(Standing.GONE);
    assertThat(there.renew(next)).isInstanceOf(Standing.Held.class);
  }

  @Test
  void aLockBecomesASemaphoreOnlyWhileNobodyHoldsItOrWaits() {
    String lock = bench.lock("becomes");
    Hold hold = here.take(lock);
    assertThat(setKind(lock, Kind.semaphore(2))).isFalse();
    assertThat(here.renew(hold.claim())).isEqualTo(hold.tokens());
    here.withdraw(hold);

    assertThat(setKind(lock, Kind.semaphore(2))).isTrue();

    assertThat(here.attempt(here.ask(lock).claim()))
        .isEqualTo(new Standing.OtherKind(Kind.semaphore(2)));
    Hold permit = askPermits(there, lock, 2, 2).take();
    assertThat(permit.tokens().token()).isGreaterThan(hold.tokens().lastToken());
    assertThat(setKind(lock, Kind.LOCK)).isFalse();
    there.withdraw(permit);
    assertThat(setKind(lock, Kind.LOCK)).isTrue();
    assertThat(here.take(lock).tokens().token()).isGreaterThan(permit.tokens().lastToken());
  }

  /** Its next holder has been promised a lock. */
  @Test
  void aLockWhoseHolderIsGoneBecomesNoSemaphoreWhileSomebodyWaits() {
    for (boolean ranOut : List.of(false, true)) {
      String lock = bench.lock("waitedFor" + ranOut);
      Duration lease = ranOut ? bench.shortLease() : Bench.LONG_LEASE;
      Hold hold = here.ask(lock).lease(lease).take();
      Claim waiter = there.ask(lock).claim();
      there.attempt(waiter);
      if (ranOut) {
        Bench.passed(System.nanoTime(), lease);
      } else {
        here.withdraw(hold);
      }

      assertThat(setKind(lock, Kind.semaphore(2))).isFalse();

      eventually(() -> there.renew(waiter) instanceof Standing.Held);
      assertThat(show(lock).kind()).isEqualTo(Kind.LOCK);
    }
  }

  @Test
  void aKindCanBeSetBeforeTheFirstClaim() {
    String lock = bench.lock("first");
    assertThat(setKind(lock, Kind.semaphore(7))).isTrue();
    assertThat(show(lock).kind()).isEqualTo(Kind.semaphore(7));
    assertThat(list()).isEmpty();
    assertThat(here.attempt(here.ask(lock).claim()))
        .isEqualTo(new Standing.OtherKind(Kind.semaphore(7)));
    askPermits(here, lock, 7, 7).take();
  }

  @Test
  void aSemaphoreSaysHowManyPermitsNobodyHolds() throws Exception {
    String name = bench.lock("permits");
    DistributedSemaphore semaphore = bench.pawl().semaphore(name, 5, Bench.LONG);
    DistributedSemaphore other = bench.pawl().semaphore(name, 5, Bench.LONG);
    assertThat(semaphore.availablePermits()).isEqualTo(5);
    Lease two = semaphore.acquire(2);
    Lease three = other.acquire(3);
    assertThat(semaphore.availablePermits()).isZero();
    assertThat(other.changeCapacity(4).availablePermits()).isZero();
    assertThatThrownBy(semaphore::availablePermits).isInstanceOf(LockKindException.class);
    two.close();
    assertThat(other.changeCapacity(4).availablePermits()).isEqualTo(1);
    three.close();
    assertThat(other.changeCapacity(4).availablePermits()).isEqualTo(4);
  }
}
