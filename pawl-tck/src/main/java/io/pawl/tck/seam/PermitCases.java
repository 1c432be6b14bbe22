package io.pawl.tck.seam;

import static io.pawl.spi.Mode.EXCLUSIVE;
import static io.pawl.spi.Mode.SHARED;
import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.spi.Claim;
import io.pawl.spi.Kind;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import io.pawl.tck.rig.Bench;
import io.pawl.tck.rig.SeamClient;
import io.pawl.tck.rig.SeamClient.Hold;
import java.util.List;
import org.junit.jupiter.api.Test;

/** K of n permits, and names that are a semaphore's. */
public abstract class PermitCases extends SeamCases {

  protected PermitCases(Bench bench) {
    super(bench);
  }

  private boolean isHeld(SeamClient client, Claim claim) {
    return client.renew(claim) instanceof Standing.Held;
  }

  @Test
  void permitsAreSharedUpToTheirCapacity() {
    String lock = bench.lock("permits");
    Hold three = here.ask(lock).mode(new Mode.Permits(3, 5)).take();
    there.ask(lock).mode(new Mode.Permits(2, 5)).take();
    Claim impatient = here.ask(lock).mode(new Mode.Permits(1, 5)).withoutQueueing().claim();
    assertThat(here.attempt(impatient)).isEqualTo(Standing.GONE);
    Claim one = here.ask(lock).mode(new Mode.Permits(1, 5)).stand();
    Claim two = there.ask(lock).mode(new Mode.Permits(2, 5)).stand();
    Claim oneMore = there.ask(lock).mode(new Mode.Permits(1, 5)).stand();

    here.withdraw(three);

    assertThat(isHeld(here, one)).isTrue();
    assertThat(isHeld(there, two)).isTrue();
    assertThat(isHeld(there, oneMore)).isFalse();
  }

  @Test
  void aLargeRequestIsNotOvertakenBySmallOnes() {
    String lock = bench.lock("large");
    Hold one = here.ask(lock).mode(new Mode.Permits(1, 4)).take();
    Claim all = there.ask(lock).mode(new Mode.Permits(4, 4)).stand();
    Claim small = here.ask(lock).mode(new Mode.Permits(1, 4)).stand();
    Claim impatient = here.ask(lock).mode(new Mode.Permits(1, 4)).withoutQueueing().claim();
    assertThat(here.attempt(impatient)).isEqualTo(Standing.GONE);

    here.withdraw(one);

    assertThat(isHeld(there, all)).isTrue();
    assertThat(isHeld(here, small)).isFalse();
  }

  @Test
  void aLateAttemptForPermitsIsGone() {
    String lock = bench.lock("late");
    Mode all = new Mode.Permits(3, 3);
    Claim late = here.ask(lock).mode(all).claim();
    here.withdraw(late.asUnsettled());

    assertThat(here.attempt(late)).isEqualTo(Standing.GONE);
    there.ask(lock).mode(all).take();
  }

  @Test
  void aLockTakesClaimsOfItsKindAlone() {
    List<Mode> modes = List.of(EXCLUSIVE, SHARED, new Mode.Permits(1, 5), new Mode.Permits(1, 6));
    for (Mode holding : modes) {
      for (Mode asking : modes) {
        String lock = bench.lock(holding + " and " + asking);
        here.ask(lock).mode(holding).take();
        Claim claim = there.ask(lock).mode(asking).withoutQueueing().claim();
        assertThat(there.attempt(claim))
            .as("%s beside %s", asking, holding)
            .satisfies(standing -> besides(holding, asking, standing));
      }
    }
  }

  @Test
  void theKindOutlivesTheHold() {
    String permits = bench.lock("idleSemaphore");
    here.withdraw(here.ask(permits).mode(new Mode.Permits(2, 5)).take());
    assertThat(there.attempt(there.ask(permits).claim()))
        .isEqualTo(new Standing.OtherKind(Kind.semaphore(5)));
    assertThat(there.attempt(there.ask(permits).mode(new Mode.Permits(1, 4)).claim()))
        .isEqualTo(new Standing.OtherKind(Kind.semaphore(5)));
    String lock = bench.lock("idleLock");
    here.withdraw(here.ask(lock).take());
    assertThat(there.attempt(there.ask(lock).mode(new Mode.Permits(1, 5)).claim()))
        .isEqualTo(new Standing.OtherKind(Kind.LOCK));
    there.ask(lock).mode(SHARED).take();
    there.ask(permits).mode(new Mode.Permits(5, 5)).take();
  }

  @Test
  void whoeverAsksForAnotherKindTakesNoPlace() {
    String lock = bench.lock("noPlace");
    Hold hold = here.take(lock);
    Claim other = there.ask(lock).mode(new Mode.Permits(1, 5)).claim();
    assertThat(there.attempt(other)).isEqualTo(new Standing.OtherKind(Kind.LOCK));
    assertThat(there.renew(other)).isEqualTo(Standing.GONE);
    here.withdraw(hold);
    assertThat(there.renew(other)).isEqualTo(Standing.GONE);
    there.withdraw(other);
    there.take(lock);
  }

  private static void besides(Mode holding, Mode asking, Standing standing) {
    if (asking.capacity() != holding.capacity()) {
      assertThat(standing).isEqualTo(new Standing.OtherKind(new Kind(holding.capacity())));
    } else if (holding.equals(asking) && holding != EXCLUSIVE) {
      assertThat(standing).isInstanceOf(Standing.Held.class);
    } else {
      assertThat(standing).isEqualTo(Standing.GONE);
    }
  }

  @Test
  void whatIsLeftOfAShortestHoldKeepsItsPermits() {
    String lock = bench.lock("permits");
    Hold two = here.ask(lock).mode(new Mode.Permits(2, 3)).minHold(Bench.LONG_LEASE).take();
    here.withdraw(two);
    there.ask(lock).mode(new Mode.Permits(1, 3)).take();
    there.ask(lock).mode(new Mode.Permits(1, 3)).stand();
  }
}
