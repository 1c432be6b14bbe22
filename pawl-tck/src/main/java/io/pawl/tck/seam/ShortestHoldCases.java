package io.pawl.tck.seam;

import static io.pawl.tck.rig.Bench.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.spi.Claim;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import io.pawl.tck.rig.Bench;
import io.pawl.tck.rig.SeamClient.Hold;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Claims whose holds keep the lock busy for a while, whatever becomes of their owners. */
public abstract class ShortestHoldCases extends SeamCases {

  protected ShortestHoldCases(Bench bench) {
    super(bench);
  }

  private Duration shortest() {
    return bench.shortLease().multipliedBy(2);
  }

  private Hold takeLasting(String lock, Duration minHold) {
    return here.ask(lock).minHold(minHold).take();
  }

  @Test
  void aShortestHoldOutlastsItsWithdrawalAndIsNobodysThen() {
    String lock = bench.lock("withdrawn");
    long sentAt = System.nanoTime();
    Hold hold = takeLasting(lock, shortest());

    here.withdraw(hold);
    here.withdraw(hold);

    assertThat(here.renew(hold.claim())).isEqualTo(Standing.GONE);
    eventually(() -> there.findsFree(lock));
    Bench.assertKeptFor(shortest(), sentAt);
  }

  @Test
  void aClaimIsNotGrantedAnewWhileWhatIsLeftOfItsHoldLasts() {
    String lock = bench.lock("again");
    Hold hold = takeLasting(lock, Bench.LONG_LEASE);
    here.withdraw(hold);
    assertThat(here.attempt(hold.claim())).isEqualTo(Standing.GONE);
    assertThat(there.findsFree(lock)).isFalse();
  }

  @Test
  void aLateAttemptIsRefusedThoughTheShortestHoldIsOver() {
    String lock = bench.lock("late");
    Hold hold = takeLasting(lock, bench.shortLease());
    here.withdraw(hold.claim().asUnsettled());
    eventually(() -> there.findsFree(lock));
    assertThat(here.attempt(hold.claim())).isEqualTo(Standing.GONE);
    assertThat(there.findsFree(lock)).isTrue();
  }

  @Test
  void aHolderThatFallsSilentKeepsTheLockForItsShortestHold() {
    String lock = bench.lock("silent");
    long sentAt = System.nanoTime();
    here.ask(lock).lease(bench.shortLease()).minHold(shortest()).take();

    eventually(() -> there.findsFree(lock));

    Bench.assertKeptFor(shortest(), sentAt);
  }

  /** Whichever is later. */
  @Test
  void aHolderThatFallsSilentKeepsTheLockForItsLeaseThoughItsShortestHoldIsOver() {
    String lock = bench.lock("silentLonger");
    long sentAt = System.nanoTime();
    here.ask(lock).lease(shortest()).minHold(bench.shortLease()).take();

    eventually(() -> there.findsFree(lock));

    Bench.assertKeptFor(shortest(), sentAt);
  }

  @Test
  void aHoldGrantedFromTheLineAndGivenBackAtOnceLastsAsLong() {
    String lock = bench.lock("fromTheLine");
    Hold first = there.take(lock);
    Claim waiter = here.ask(lock).minHold(shortest()).stand();
    long releasedAt = System.nanoTime();
    there.withdraw(first);
    eventually(() -> here.renew(waiter) instanceof Standing.Held);

    here.withdraw(waiter);

    Claim next = there.ask(lock).stand();
    eventually(() -> there.renew(next) instanceof Standing.Held);
    Bench.assertKeptFor(shortest(), releasedAt);
  }

  @Test
  void aHoldGrantedFromTheLineAndHeardOfLastsAsLongThoughItsOwnerFallsSilent() {
    String lock = bench.lock("heardOf");
    Duration minHold = bench.shortLease().multipliedBy(3);
    Hold first = there.take(lock);
    Claim waiter = here.ask(lock).lease(shortest()).minHold(minHold).stand();
    long releasedAt = System.nanoTime();
    there.withdraw(first);
    eventually(() -> here.renew(waiter) instanceof Standing.Held);

    eventually(() -> there.findsFree(lock));

    Bench.assertKeptFor(minHold, releasedAt);
  }

  @Test
  void aShortestHoldThatIsOverDelaysNoWithdrawal() {
    String lock = bench.lock("over");
    long sentAt = System.nanoTime();
    Hold hold = takeLasting(lock, bench.shortLease());
    Bench.passed(sentAt, shortest());
    here.withdraw(hold);
    assertThat(there.findsFree(lock)).isTrue();
  }

  @Test
  void aHoldThatNobodyWorkedUnderEndsAtOnce() {
    String lock = bench.lock("unused");
    Hold hold = takeLasting(lock, Bench.LONG_LEASE);
    here.withdraw(hold.claim().withMinHold(Duration.ZERO));
    assertThat(there.findsFree(lock)).isTrue();
  }

  @Test
  void whatIsLeftOfAReadersShortestHoldLetsReadersInAndKeepsWritersOut() {
    String lock = bench.lock("reader");
    here.withdraw(here.ask(lock).mode(Mode.SHARED).minHold(Bench.LONG_LEASE).take());
    there.withdraw(there.ask(lock).mode(Mode.SHARED).take());
    assertThat(there.findsFree(lock)).isFalse();
  }

  @Test
  void aDowngradedHoldKeepsItsShortestTimeAsAReaders() {
    String lock = bench.lock("downgraded");
    Hold hold = takeLasting(lock, Bench.LONG_LEASE);
    assertThat(here.attempt(hold.claim().as(Mode.SHARED))).isEqualTo(hold.tokens());
    here.withdraw(hold.claim().as(Mode.SHARED));
    there.withdraw(there.ask(lock).mode(Mode.SHARED).take());
    assertThat(there.findsFree(lock)).isFalse();
  }
}
