package io.pawl.spi.rule;

import static io.pawl.spi.Claims.exclusive;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.error.StoreException;
import io.pawl.spi.Claim;
import io.pawl.spi.Claims;
import io.pawl.spi.Kind;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import io.pawl.spi.Tokens;
import io.pawl.spi.rule.LockState.Entry;
import io.pawl.spi.rule.LockState.Grant;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The grant rule by example. Leases last one second unless said otherwise. */
class GrantRuleTest {

  private final LockState lock = new LockState("lock", 0);

  @Test
  void aFreeLockIsGrantedAtOnceWithTheNextToken() {
    assertThat(GrantRule.attempt(lock, exclusive(1), 0)).isEqualTo(new Standing.Held(1, 1));
    assertThat(lock.takeGrants()).isEmpty();
  }

  @Test
  void whoeverFindsItHeldWaitsAndIsToldWhenToAskAgain() {
    GrantRule.attempt(lock, exclusive(1), 0);
    assertThat(GrantRule.attempt(lock, exclusive(2), 400)).isEqualTo(waitingMillis(600));
  }

  @Test
  void whoeverDoesNotQueueIsRefusedAndForgotten() {
    GrantRule.attempt(lock, exclusive(1), 0);
    Claim impatient = Claims.of(2, Mode.EXCLUSIVE, 1_000, false, 1, 0);
    assertThat(GrantRule.attempt(lock, impatient, 0)).isEqualTo(Standing.GONE);
    assertThat(lock.waiters()).isEmpty();
  }

  @Test
  void aWithdrawalGrantsToTheNextInLineAndRingsItsBell() {
    GrantRule.attempt(lock, exclusive(1), 0);
    GrantRule.attempt(lock, exclusive(2), 1);
    GrantRule.attempt(lock, exclusive(3), 2);
    GrantRule.withdraw(lock, exclusive(1), 10);
    assertThat(lock.takeGrants())
        .containsExactly(new Grant(exclusive(2).id(), new Standing.Held(2, 2)));
  }

  @Test
  void aLockThatWasStoredFreeServesThoseWhoWaitBeforeANewcomer() {
    GrantRule.attempt(lock, exclusive(1), 0);
    GrantRule.attempt(lock, exclusive(2), 1);
    LockState stored =
        new LockState("lock", Kind.LOCK, 1, List.of(), lock.waiters(), lock.withdrawn());

    assertThat(GrantRule.attempt(stored, exclusive(3), 10)).isInstanceOf(Standing.Waiting.class);

    assertThat(stored.takeGrants())
        .containsExactly(new Grant(exclusive(2).id(), new Standing.Held(2, 2)));
  }

  @Test
  void aGrantNamesThoseOfItsClientThatStandDirectlyBehind() {
    GrantRule.attempt(lock, exclusive(1), 0);
    GrantRule.attempt(lock, Claims.of(2, Mode.EXCLUSIVE, 1_000, true, 10, 0), 1);
    for (int number : new int[] {3, 4, 5, 6}) { // 5 is of another client
      GrantRule.attempt(lock, exclusive(number), number);
    }
    GrantRule.withdraw(lock, exclusive(1), 10);
    assertThat(lock.takeGrants())
        .containsExactly(
            new Grant(
                exclusive(2).id(),
                new Standing.Held(2, 11, List.of(exclusive(3).id(), exclusive(4).id()))));
  }

  @Test
  void aGrantNamesFewerFollowersThanItHasTokens() {
    GrantRule.attempt(lock, exclusive(1), 0);
    GrantRule.attempt(lock, Claims.of(2, Mode.EXCLUSIVE, 1_000, true, 2, 0), 1);
    GrantRule.attempt(lock, exclusive(3), 2);
    GrantRule.attempt(lock, exclusive(4), 3);
    GrantRule.withdraw(lock, exclusive(1), 10);
    assertThat(lock.takeGrants().get(0).held().followers()).containsExactly(exclusive(3).id());
  }

  @Test
  void aGrantNamesNoMoreFollowersThanTheBoundHoweverManyTokensItHas() {
    GrantRule.attempt(lock, exclusive(1), 0);
    GrantRule.attempt(lock, Claims.of(2, Mode.EXCLUSIVE, 1_000, true, 1_000, 0), 0);
    for (int i = 0; i < GrantRule.MAX_FOLLOWERS + 1; i++) {
      GrantRule.attempt(lock, exclusive(5 * i + 6), 0);
    }
    GrantRule.withdraw(lock, exclusive(1), 10);
    assertThat(lock.takeGrants().get(0).held().followers()).hasSize(GrantRule.MAX_FOLLOWERS);
  }

  @Test
  void readersDoNotFollowAWriter() {
    GrantRule.attempt(lock, exclusive(1), 0);
    GrantRule.attempt(lock, Claims.of(2, Mode.EXCLUSIVE, 1_000, true, 10, 0), 1);
    GrantRule.attempt(lock, Claims.of(3, Mode.SHARED), 2);
    GrantRule.withdraw(lock, exclusive(1), 10);
    assertThat(lock.takeGrants().get(0).held().followers()).isEmpty();
  }

  @Test
  void withdrawingTwiceLeavesTheNextHolderAlone() {
    GrantRule.attempt(lock, exclusive(1), 0);
    GrantRule.attempt(lock, exclusive(2), 1);
    GrantRule.withdraw(lock, exclusive(1), 10);
    GrantRule.withdraw(lock, exclusive(1), 11);
    assertThat(GrantRule.renew(lock, exclusive(2).id(), 12)).isEqualTo(new Standing.Held(2, 2));
  }

  @Test
  void aGrantFromTheLineKeepsTheWaitersDeadline() {
    GrantRule.attempt(lock, exclusive(1), 0);
    GrantRule.attempt(lock, exclusive(2), 100);
    GrantRule.withdraw(lock, exclusive(1), 900);
    assertThat(lock.holders()).extracting(Entry::until).containsExactly(1_100L);
  }

  @Test
  void ofALongLeaseAWaiterThatAsksKeepsHalfAndToAskMostlyChangesNothing() {
    Claim waiter = Claims.of(2, Mode.EXCLUSIVE, 20_001, true, 1, 0);
    GrantRule.attempt(lock, Claims.of(1, Mode.EXCLUSIVE, 60_000, true, 1, 0), 0);
    GrantRule.attempt(lock, waiter, 100);
    GrantRule.renew(lock, waiter.id(), 10_101);
    assertThat(lock.waiters()).extracting(Entry::until).containsExactly(20_101L);
    GrantRule.attempt(lock, waiter, 10_102);
    assertThat(lock.waiters()).extracting(Entry::until).containsExactly(30_103L);
  }

  @Test
  void ofALeaseUpToTwentySecondsAWaiterThatAsksKeepsAll() {
    Claim waiter = Claims.of(2, Mode.EXCLUSIVE, 20_000, true, 1, 0);
    GrantRule.attempt(lock, Claims.of(1, Mode.EXCLUSIVE, 60_000, true, 1, 0), 0);
    GrantRule.attempt(lock, waiter, 0);
    GrantRule.renew(lock, waiter.id(), 1);
    assertThat(lock.waiters()).extracting(Entry::until).containsExactly(20_001L);
  }

  @Test
  void aCrashedHolderDelaysOthersByItsLease() {
    GrantRule.attempt(lock, exclusive(1), 0);
    GrantRule.attempt(lock, exclusive(2), 500);
    assertThat(GrantRule.renew(lock, exclusive(2).id(), 999)).isEqualTo(waitingMillis(1));
    assertThat(GrantRule.renew(lock, exclusive(2).id(), 1_000)).isEqualTo(new Standing.Held(2, 2));
  }

  @Test
  void aRunOfReadersIsLetInTogetherAndNobodyOvertakesTheWriter() {
    GrantRule.attempt(lock, exclusive(1), 0);
    GrantRule.attempt(lock, Claims.of(2, Mode.SHARED), 0);
    GrantRule.attempt(lock, Claims.of(3, Mode.SHARED), 0);
    GrantRule.attempt(lock, exclusive(4), 0);
    GrantRule.attempt(lock, Claims.of(5, Mode.SHARED), 0);
    GrantRule.withdraw(lock, exclusive(1), 0);
    assertThat(lock.holders()).extracting(e -> e.id().number()).containsExactly(2L, 3L);
    assertThat(lock.waiters()).extracting(e -> e.id().number()).containsExactly(4L, 5L);
  }

  @Test
  void permitsAreNeverHandedOutBeyondTheCapacity() {
    GrantRule.attempt(lock, Claims.of(1, new Mode.Permits(2, 3)), 0);
    Standing tooMany = GrantRule.attempt(lock, Claims.of(2, new Mode.Permits(2, 3)), 0);
    Standing behind = GrantRule.attempt(lock, Claims.of(3, new Mode.Permits(1, 3)), 0);
    assertThat(tooMany).isInstanceOf(Standing.Waiting.class);
    assertThat(behind).isInstanceOf(Standing.Waiting.class);
  }

  @Test
  void whoAsksForAnotherKindOrCapacityIsToldWhatItIs() {
    GrantRule.attempt(lock, permits(1, 1, 3), 0);
    Standing.OtherKind itIs = new Standing.OtherKind(Kind.semaphore(3));
    assertThat(GrantRule.attempt(lock, permits(2, 1, 4), 0)).isEqualTo(itIs);
    assertThat(GrantRule.attempt(lock, exclusive(3), 0)).isEqualTo(itIs);
    assertThat(GrantRule.attempt(lock, Claims.of(4, Mode.SHARED), 0)).isEqualTo(itIs);
    GrantRule.withdraw(lock, permits(1, 1, 3), 0);
    assertThat(GrantRule.attempt(lock, exclusive(5), 0)).isEqualTo(itIs);
  }

  @Test
  void aLockIsOneKindForExclusiveAndSharedClaims() {
    GrantRule.attempt(lock, Claims.of(1, Mode.SHARED), 0);
    GrantRule.withdraw(lock, Claims.of(1, Mode.SHARED), 0);
    assertThat(GrantRule.attempt(lock, exclusive(2), 0)).isInstanceOf(Standing.Held.class);
    assertThat(GrantRule.attempt(lock, permits(3, 1, 1), 0))
        .isEqualTo(new Standing.OtherKind(Kind.LOCK));
  }

  @Test
  void morePermitsAreHandedOutAtOnce() {
    GrantRule.attempt(lock, permits(1, 2, 2), 0);
    GrantRule.attempt(lock, permits(2, 1, 2), 0);
    assertThat(GrantRule.setKind(lock, Kind.semaphore(3), 1)).isTrue();
    assertThat(lock.takeGrants()).extracting(Grant::id).containsExactly(permits(2, 1, 2).id());
    assertThat(GrantRule.attempt(lock, permits(1, 2, 2), 1)).isInstanceOf(Standing.Held.class);
  }

  @Test
  void withFewerPermitsHoldersDrainAndWhoeverWantsTooManyLosesItsPlace() {
    GrantRule.attempt(lock, permits(1, 3, 3), 0);
    GrantRule.attempt(lock, permits(2, 3, 3), 0);
    GrantRule.attempt(lock, permits(3, 1, 3), 0);
    assertThat(GrantRule.setKind(lock, Kind.semaphore(2), 1)).isTrue();
    assertThat(GrantRule.renew(lock, permits(1, 3, 3).id(), 1)).isInstanceOf(Standing.Held.class);
    assertThat(GrantRule.renew(lock, permits(2, 3, 3).id(), 1)).isEqualTo(Standing.GONE);
    assertThat(GrantRule.renew(lock, permits(3, 1, 3).id(), 1))
        .isInstanceOf(Standing.Waiting.class);
    GrantRule.withdraw(lock, permits(1, 3, 3), 1);
    assertThat(lock.holders()).extracting(e -> e.id().number()).containsExactly(3L);
  }

  @Test
  void aLockBecomesASemaphoreOnlyWhileNobodyHoldsItOrWaits() {
    GrantRule.attempt(lock, exclusive(1), 0);
    assertThat(GrantRule.setKind(lock, Kind.semaphore(2), 0)).isFalse();
    assertThat(GrantRule.setKind(lock, Kind.LOCK, 0)).isTrue();
    GrantRule.withdraw(lock, exclusive(1), 0);
    assertThat(GrantRule.setKind(lock, Kind.semaphore(2), 0)).isTrue();
    assertThat(GrantRule.attempt(lock, permits(2, 1, 2), 0)).isInstanceOf(Standing.Held.class);
    assertThat(GrantRule.setKind(lock, Kind.LOCK, 0)).isFalse();
  }

  @Test
  void aWriterThatBecomesAReaderKeepsItsTokensAndLetsReadersAtTheHeadIn() {
    Standing.Held held = new Standing.Held(1, 1);
    assertThat(GrantRule.attempt(lock, exclusive(1), 0)).isEqualTo(held);
    GrantRule.attempt(lock, Claims.of(2, Mode.SHARED), 0);
    GrantRule.attempt(lock, exclusive(3), 0);
    GrantRule.attempt(lock, Claims.of(4, Mode.SHARED), 0);
    assertThat(GrantRule.attempt(lock, Claims.of(1, Mode.SHARED), 0)).isEqualTo(held);
    assertThat(GrantRule.attempt(lock, Claims.of(1, Mode.SHARED), 0)).isEqualTo(held);
    assertThat(lock.holders()).extracting(e -> e.id().number()).containsExactly(1L, 2L);
    assertThat(lock.waiters()).extracting(e -> e.id().number()).containsExactly(3L, 4L);
  }

  @Test
  void aReaderThatAsksToWriteStaysAReader() {
    GrantRule.attempt(lock, Claims.of(1, Mode.SHARED), 0);
    assertThat(GrantRule.attempt(lock, exclusive(1), 0)).isEqualTo(new Standing.Held(1, 1));
    assertThat(lock.holders()).extracting(Entry::mode).containsExactly(Mode.SHARED);
  }

  private static Claim permits(long number, int wanted, int capacity) {
    return Claims.of(number, new Mode.Permits(wanted, capacity));
  }

  @Test
  void anUnsettledClaimThatArrivesAfterItsWithdrawalIsRefused() {
    GrantRule.withdraw(lock, exclusive(1).asUnsettled(), 0);
    assertThat(GrantRule.attempt(lock, exclusive(1), 59_999)).isEqualTo(Standing.GONE);
    assertThat(lock.isIdle()).isFalse();
  }

  @Test
  void whatWasWithdrawnIsForgottenAfterAMinute() {
    GrantRule.withdraw(lock, exclusive(1).asUnsettled(), 0);
    GrantRule.settle(lock, GrantRule.WITHDRAWN_KEPT_MILLIS);
    assertThat(lock.isIdle()).isTrue();
  }

  @Test
  void theOldestWithdrawalIsForgottenBeyondTheBound() {
    for (int i = 0; i <= GrantRule.MAX_WITHDRAWN; i++) {
      GrantRule.withdraw(lock, exclusive(i).asUnsettled(), i);
    }
    assertThat(lock.withdrawn())
        .hasSize(GrantRule.MAX_WITHDRAWN)
        .doesNotContainKey(exclusive(0).id())
        .containsKey(exclusive(1).id());
  }

  @Test
  void aFullLineTakesNobodyInAndSaysWhenToAskAgain() {
    for (int i = 0; i <= GrantRule.MAX_WAITERS; i++) {
      GrantRule.attempt(lock, exclusive(i), 0);
    }
    assertThat(GrantRule.attempt(lock, exclusive(999_999), 0)).isEqualTo(waitingMillis(100));
    assertThat(lock.waiters()).hasSize(GrantRule.MAX_WAITERS);
    assertThat(GrantRule.attempt(lock, exclusive(5), 0)).isEqualTo(waitingMillis(1_000));
  }

  @Test
  void everyTokenOfARangeIsAboveTheFloorAndTheNextGrantIsAboveTheRange() {
    Claim floored = Claims.of(1, Mode.EXCLUSIVE, 1_000, true, 5, 100);
    assertThat(GrantRule.attempt(lock, floored, 0)).isEqualTo(new Standing.Held(101, 105));
    GrantRule.withdraw(lock, floored, 1);
    assertThat(GrantRule.attempt(lock, exclusive(2), 1)).isEqualTo(new Standing.Held(106, 106));
  }

  @Test
  void evictionByAnyTokenOfTheHoldEndsItAndGrantsToTheNext() {
    GrantRule.attempt(lock, Claims.of(1, Mode.EXCLUSIVE, 1_000, true, 5, 0), 0);
    GrantRule.attempt(lock, exclusive(2), 0);
    assertThat(GrantRule.evict(lock, 6, 1)).isFalse();
    assertThat(GrantRule.evict(lock, 3, 1)).isTrue();
    assertThat(GrantRule.renew(lock, exclusive(1).id(), 2)).isEqualTo(Standing.GONE);
    assertThat(GrantRule.renew(lock, exclusive(2).id(), 2)).isEqualTo(new Standing.Held(6, 6));
  }

  @Test
  void aShortestHoldOutlastsItsWithdrawalAndIsNobodysThen() {
    GrantRule.attempt(lock, lasting(1, 5_000), 0);
    GrantRule.withdraw(lock, lasting(1, 5_000), 100);

    assertThat(GrantRule.renew(lock, exclusive(1).id(), 200)).isEqualTo(Standing.GONE);
    assertThat(GrantRule.attempt(lock, lasting(1, 5_000), 200)).isEqualTo(Standing.GONE);
    GrantRule.withdraw(lock, lasting(1, 5_000), 300);
    assertThat(GrantRule.attempt(lock, exclusive(2), 4_500)).isEqualTo(waitingMillis(500));
    GrantRule.settle(lock, 5_000);
    assertThat(lock.takeGrants()).extracting(Grant::id).containsExactly(exclusive(2).id());
  }

  @Test
  void aShortestHoldThatIsOverDelaysNoWithdrawal() {
    GrantRule.attempt(lock, lasting(1, 400), 0);
    GrantRule.withdraw(lock, lasting(1, 400), 400);
    assertThat(lock.holders()).isEmpty();
  }

  @Test
  void aHolderThatFallsSilentKeepsTheLockForItsShortestHold() {
    GrantRule.attempt(lock, lasting(1, 5_000), 0);
    assertThat(GrantRule.attempt(lock, exclusive(2), 4_900)).isEqualTo(waitingMillis(100));
    assertThat(GrantRule.attempt(lock, exclusive(3), 5_000)).isInstanceOf(Standing.Waiting.class);
    assertThat(lock.holders()).extracting(Entry::id).containsExactly(exclusive(2).id());
  }

  @Test
  void aHoldIsKeptForItsLeaseThoughItsShortestTimeIsOver() {
    GrantRule.attempt(lock, lasting(1, 5_000), 0);
    GrantRule.renew(lock, exclusive(1).id(), 4_900);
    assertThat(lock.holders()).extracting(Entry::until).containsExactly(5_900L);
  }

  @Test
  void aWaiterThatWasDeadWhenItsTurnCameCostsItsLeaseAndNoShortestHold() {
    GrantRule.attempt(lock, exclusive(1), 0);
    GrantRule.attempt(lock, lasting(2, 60_000), 100);
    GrantRule.withdraw(lock, exclusive(1), 600);
    assertThat(GrantRule.attempt(lock, exclusive(3), 700)).isEqualTo(waitingMillis(400));
    GrantRule.settle(lock, 1_100);
    assertThat(lock.holders()).extracting(Entry::id).containsExactly(exclusive(3).id());
  }

  @Test
  void aGrantFromTheLineOwesItsShortestHoldOnceItWasHeardOf() {
    GrantRule.attempt(lock, exclusive(1), 0);
    GrantRule.attempt(lock, lasting(2, 60_000), 100);
    GrantRule.withdraw(lock, exclusive(1), 600);
    GrantRule.renew(lock, exclusive(2).id(), 900);
    assertThat(lock.holders()).extracting(Entry::until).containsExactly(60_600L);
    GrantRule.withdraw(lock, lasting(2, 60_000), 1_000);
    assertThat(lock.holders()).extracting(Entry::until).containsExactly(60_600L);
  }

  @Test
  void aHoldGrantedFromTheLineAndWithdrawnAtOnceLastsAsLong() {
    GrantRule.attempt(lock, exclusive(1), 0);
    GrantRule.attempt(lock, lasting(2, 300), 100);
    GrantRule.withdraw(lock, exclusive(1), 600);
    GrantRule.withdraw(lock, lasting(2, 300), 601);
    assertThat(GrantRule.attempt(lock, exclusive(3), 700)).isEqualTo(waitingMillis(200));
  }

  @Test
  void aHoldThatNobodyWorkedUnderEndsAtOnce() {
    GrantRule.attempt(lock, lasting(1, 5_000), 0);
    GrantRule.withdraw(lock, exclusive(1), 100);
    assertThat(lock.holders()).isEmpty();
  }

  @Test
  void anEvictionEndsAShortestHoldWhetherItsOwnerIsThereOrNot() {
    GrantRule.attempt(lock, lasting(1, 5_000), 0);
    assertThat(GrantRule.evict(lock, 1, 100)).isTrue();
    GrantRule.attempt(lock, lasting(2, 5_000), 200);
    GrantRule.withdraw(lock, lasting(2, 5_000), 300);
    assertThat(GrantRule.evict(lock, 2, 400)).isTrue();
    assertThat(lock.isIdle()).isTrue();
  }

  @Test
  void whatIsLeftOfAReadersShortestHoldKeepsWritersOutAndLetsReadersIn() {
    Claim reader = Claims.of(1, Mode.SHARED).withMinHold(Duration.ofSeconds(5));
    GrantRule.attempt(lock, reader, 0);
    GrantRule.withdraw(lock, reader, 100);
    assertThat(GrantRule.attempt(lock, Claims.of(2, Mode.SHARED), 200))
        .isInstanceOf(Standing.Held.class);
    GrantRule.withdraw(lock, Claims.of(2, Mode.SHARED), 300);
    assertThat(GrantRule.attempt(lock, exclusive(3), 400)).isEqualTo(waitingMillis(4_600));
  }

  @Test
  void whatIsLeftOfAShortestHoldKeepsItsPermits() {
    Claim two = Claims.of(1, new Mode.Permits(2, 3)).withMinHold(Duration.ofSeconds(5));
    GrantRule.attempt(lock, two, 0);
    GrantRule.withdraw(lock, two, 100);
    assertThat(GrantRule.attempt(lock, Claims.of(2, new Mode.Permits(1, 3)), 200))
        .isInstanceOf(Standing.Held.class);
    assertThat(GrantRule.attempt(lock, Claims.of(3, new Mode.Permits(1, 3)), 300))
        .isInstanceOf(Standing.Waiting.class);
  }

  @Test
  void aClockThatGoesBackStretchesNoShortestHold() {
    GrantRule.attempt(lock, lasting(1, 5_000), 10_000);
    GrantRule.withdraw(lock, lasting(1, 5_000), 2_000);
    assertThat(lock.holders()).extracting(Entry::until).containsExactly(7_000L);
  }

  @Test
  void aClockThatGoesBackShortensNoHold() {
    GrantRule.attempt(lock, exclusive(1), 10_000);
    GrantRule.renew(lock, exclusive(1).id(), 5_000);
    assertThat(lock.holders()).extracting(Entry::until).containsExactly(11_000L);
  }

  @Test
  void usedUpTokensRefuseTheClaimAndChangeNothing() {
    LockState old = new LockState("lock", Tokens.MAX - 1);
    assertThatThrownBy(
            () -> GrantRule.attempt(old, Claims.of(1, Mode.EXCLUSIVE, 1_000, true, 2, 0), 0))
        .isInstanceOf(StoreException.class)
        .hasMessageContaining("used up");
    assertThat(old.holders()).isEmpty();
    assertThat(GrantRule.attempt(old, exclusive(2), 0))
        .isEqualTo(new Standing.Held(Tokens.MAX, Tokens.MAX));
  }

  private static Claim lasting(long number, long minHoldMillis) {
    return exclusive(number).withMinHold(Duration.ofMillis(minHoldMillis));
  }

  private static Standing waitingMillis(long millis) {
    return new Standing.Waiting(Duration.ofMillis(millis));
  }
}
