package io.pawl.tck.seam;

import static io.pawl.tck.rig.Bench.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Standing;
import io.pawl.tck.rig.Bench;
import io.pawl.tck.rig.SeamClient.Hold;
import io.pawl.tck.rig.SeamClient.RecordingBell;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What the store does about claims that it no longer hears of. */
public abstract class ExpiryCases extends SeamCases {

  protected ExpiryCases(Bench bench) {
    super(bench);
  }

  @Test
  void aClaimUnheardOfForItsLeaseIsGone() {
    String lock = bench.lock("expiry");
    long sentAt = System.nanoTime();
    Hold silent = here.ask(lock).lease(bench.shortLease()).take();

    eventually(() -> there.findsFree(lock));

    Bench.assertKeptFor(bench.shortLease(), sentAt);
    assertThat(here.renew(silent.claim())).isEqualTo(Standing.GONE);
  }

  @Test
  void aClaimThatRanOutLeavesTheNextHolderAlone() {
    String lock = bench.lock("stale");
    Hold silent = here.ask(lock).lease(bench.shortLease()).take();
    eventually(() -> there.findsFree(lock));
    Hold next = there.take(lock);

    // asked again where its session ends in this moment
    eventually(
        () -> {
          assertThat(here.renew(silent.claim())).isEqualTo(Standing.GONE);
          return true;
        });
    here.withdraw(silent);

    assertThat(there.renew(next.claim())).isEqualTo(next.tokens());
    assertThat(here.findsFree(lock)).isFalse();
  }

  @Test
  void aLineMovesOnWhenTheHolderFallsSilent() {
    String lock = bench.lock("silentHolder");
    long sentAt = System.nanoTime();
    here.ask(lock).lease(bench.shortLease()).take();
    Claim waiter = there.ask(lock).stand();

    eventually(() -> there.renew(waiter) instanceof Standing.Held);

    Bench.assertKeptFor(bench.shortLease(), sentAt);
  }

  @Test
  void aDeadWaiterIsSkipped() {
    String lock = bench.lock("deadWaiter");
    Hold hold = here.take(lock);
    RecordingBell deadBell = new RecordingBell();
    RecordingBell aliveBell = new RecordingBell();
    Claim dead = here.ask(lock).lease(bench.shortLease()).claim();
    here.attempt(dead, deadBell);
    Claim alive = there.ask(lock).claim();
    there.attempt(alive, aliveBell);
    Bench.passed(System.nanoTime(), bench.shortLease().multipliedBy(2));

    here.withdraw(hold);

    eventually(aliveBell::hasRungHeld);
    assertThat(there.renew(alive)).isInstanceOf(Standing.Held.class);
    assertThat(here.renew(dead)).isEqualTo(Standing.GONE);
    assertThat(deadBell.hasRungHeld()).isFalse();
  }

  @Test
  void aDeadWaiterThatWasGrantedDelaysTheNextByItsLeaseAtMost() {
    String lock = bench.lock("deadGrantee");
    Hold hold = here.take(lock);
    here.ask(lock).lease(bench.shortLease()).stand();
    Claim alive = there.ask(lock).stand();

    here.withdraw(hold);

    eventually(() -> there.renew(alive) instanceof Standing.Held);
  }

  @Test
  void aGrantFromTheLineLastsTheLeaseFromTheWaitersLastSignOfLife() {
    String lock = bench.lock("covered");
    Hold hold = here.take(lock);
    Claim waiter = there.ask(lock).lease(bench.shortLease()).claim();
    long sentAt = System.nanoTime();
    RecordingBell bell = new RecordingBell();
    there.attempt(waiter, bell);
    here.withdraw(hold);

    eventually(() -> here.findsFree(lock));

    Bench.assertKeptFor(bench.shortLease(), sentAt);
  }

  @Test
  void p1_oneHolder_aGrantFromTheLineLastsTheLeaseFromAnyLaterQuestion() {
    untroubled(
        lease -> {
          String lock = bench.lock("askedAgain" + lease.toMillis());
          Hold hold = here.take(lock);
          Claim waiter = there.ask(lock).lease(lease).claim();
          long askedAt = System.nanoTime();
          there.attempt(waiter);
          Bench.passed(askedAt, lease.dividedBy(3));
          long askedAgainAt = System.nanoTime();
          if (!(there.renew(waiter) instanceof Standing.Waiting)) {
            return dropped(askedAt, lease);
          }
          here.withdraw(hold);

          eventually(() -> here.findsFree(lock));

          Bench.assertKeptFor(lease, askedAgainAt);
          return Sign.ALIVE;
        });
  }

  @Test
  void renewKeepsHoldersAndWaitersAlive() {
    untroubled(
        lease -> {
          long askedAt = System.nanoTime();
          String lock = bench.lock("kept" + lease.toMillis());
          Hold hold = here.ask(lock).lease(lease).take();
          Claim waiter = there.ask(lock).lease(lease).claim();
          Standing first = there.attempt(waiter);
          return signsOfLife(
              lease,
              askedAt,
              () ->
                  first instanceof Standing.Waiting
                      && here.renew(hold.claim()).equals(hold.tokens())
                      && there.renew(waiter) instanceof Standing.Waiting);
        });
  }

  @Test
  void attemptRepeatedKeepsHoldersAndWaitersAlive() {
    untroubled(
        lease -> {
          long askedAt = System.nanoTime();
          String lock = bench.lock("attempted" + lease.toMillis());
          Hold hold = here.ask(lock).lease(lease).take();
          Claim waiter = there.ask(lock).lease(lease).claim();
          return signsOfLife(
              lease,
              askedAt,
              () ->
                  here.attempt(hold.claim()).equals(hold.tokens())
                      && there.attempt(waiter) instanceof Standing.Waiting);
        });
  }

  @Test
  void oneSilentClaimOfManyRenewedRunsOutAlone() {
    untroubled(
        lease -> {
          long askedAt = System.nanoTime();
          Hold kept = here.ask(bench.lock("kept" + lease.toMillis())).lease(lease).take();
          String silentLock = bench.lock("silent" + lease.toMillis());
          Hold silent = here.ask(silentLock).lease(lease).take();
          Sign lived =
              signsOfLife(
                  lease,
                  askedAt,
                  () -> kept.tokens().equals(here.renew(List.of(kept.claim())).get(id(kept))));
          if (lived == Sign.ALIVE) {
            assertThat(here.renew(silent.claim())).isEqualTo(Standing.GONE);
          }
          return lived;
        });
  }

  private static ClaimId id(Hold hold) {
    return hold.claim().id();
  }

  private enum Sign {
    ALIVE,
    DROPPED,
    STALLED
  }

  private interface Life {
    boolean isAlive();
  }

  private interface Round {
    Sign run(Duration lease);
  }

  /**
   * Asks for signs of life over three leases. A machine that stalls so long that the store was
   * right to drop the claim proves nothing.
   *
   * @param askedAt when the first claim was asked for
   */
  private static Sign signsOfLife(Duration lease, long askedAt, Life life) {
    long start = System.nanoTime();
    long[] last = {askedAt};
    Sign[] sign = {Sign.ALIVE};
    eventually(
        () -> {
          long before = last[0];
          last[0] = System.nanoTime();
          boolean alive = life.isAlive();
          if (!alive) {
            sign[0] = dropped(before, lease);
          }
          return !alive || System.nanoTime() - start > 3 * lease.toNanos();
        });
    return sign[0];
  }

  private static Sign dropped(long heardOfAt, Duration lease) {
    boolean stalled = System.nanoTime() - heardOfAt > lease.toNanos() / 2;
    return stalled ? Sign.STALLED : Sign.DROPPED;
  }

  /** Runs a round, again with longer leases while the machine stalls. */
  private void untroubled(Round round) {
    Duration lease = bench.shortLease();
    Sign sign = round.run(lease);
    for (int again = 0; sign == Sign.STALLED && again < 4; again++) {
      lease = lease.multipliedBy(2);
      sign = round.run(lease);
    }
    assertThat(sign).isEqualTo(Sign.ALIVE);
  }
}
