package io.pawl;

import static io.pawl.ScriptedStore.WAITING;
import static io.pawl.ScriptedStore.held;
import static io.pawl.ScriptedStore.unavailable;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.engine.Engine;
import io.pawl.error.LeaseLostException;
import io.pawl.error.StoreException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.options.LockObserver;
import io.pawl.options.LockOptions;
import io.pawl.options.PawlOptions;
import io.pawl.spi.Claim;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Answers, failures, bells and renewals of one claim in the orders in which they can come. */
class AcquisitionTest {

  private static final Duration LEASE = Duration.ofSeconds(3);
  private static final Duration LONG = Duration.ofDays(1);

  private final AtomicInteger losses = new AtomicInteger();
  private final LockObserver broken =
      new LockObserver() {
        @Override
        public void storeFailed(String lock, StoreException failure) {
          throw new IllegalStateException("a bug in the observer");
        }

        @Override
        public void released(String lock, long token, Duration held) {
          throw new IllegalStateException("a bug in the observer");
        }

        @Override
        public void lost(String lock, long token, String why) {
          throw new AssertionError("a bug in the observer");
        }
      };
  private final ScriptedClient client =
      new ScriptedClient(PawlOptions.defaults().observer(broken).patience(Duration.ofMinutes(1)));
  private final ScriptedStore store = client.store();
  private final Engine engine = client.engine();
  private final DistributedLock lock =
      new DistributedLock(engine, "lock", LockOptions.defaults().lease(LEASE));

  @Test
  void aFreeLockCostsOneTripEachWay() {
    Lease lease = granted(lock.tryAcquireAsync(LONG), held(7));
    assertThat(lease.token()).isEqualTo(7);
    lease.closeAsync().join();
    assertThat(store.attempts).hasSize(1);
    assertThat(store.renewals).isEmpty();
    assertThat(store.withdrawals).containsExactly(store.attempt(0).claim());
    assertThat(engine.isIdle()).isTrue();
  }

  @Test
  void anErrorOfTheStoreDelaysAReleaseAndDoesNotLoseIt() {
    Lease lease = granted(lock.tryAcquireAsync(LONG), held(7));
    store.failingWithdrawals = 1;
    store.withdrawalFailure = new OutOfMemoryError("scripted");
    var closed = lease.closeAsync();
    pass(Duration.ofMillis(20));
    assertThat(closed).isCompleted();
    assertThat(store.withdrawals).hasSize(2);
  }

  @Test
  void aReleaseThatIsNotConfirmedIsAnsweredWhenTheClientEnds() {
    Lease lease = granted(lock.tryAcquireAsync(LONG), held(7));
    store.failingWithdrawals = Integer.MAX_VALUE;
    var closed = lease.closeAsync();
    engine.lifecycle().beginClosing();
    engine.lifecycle().endHolds("the grace is over");
    assertThat(closed).isNotDone();

    engine.lifecycle().abandon();
    pass(Duration.ZERO);

    assertThat(closed).isCompletedExceptionally();
    assertThat(engine.isIdle()).isTrue();
  }

  @Test
  void anExtensionThatIsNotAnsweredFailsWhenTheClientEnds() {
    Lease lease = granted(lock.tryAcquireAsync(LONG), held(7));
    var extended = lease.extendAsync(LEASE);
    engine.lifecycle().beginClosing();
    engine.lifecycle().endHolds("the grace is over");
    assertThat(extended).isNotDone();

    engine.lifecycle().abandon();
    pass(Duration.ZERO);

    assertThat(extended).isCompletedExceptionally();
  }

  @Test
  void theLeaseCountsFromTheRequestNotFromTheReply() {
    var future = lock.tryAcquireAsync(LONG);
    pass(Duration.ofSeconds(2));
    store.attempt(0).answer().complete(held(1));
    pass(Duration.ZERO);
    assertThat(future.join().orElseThrow().remaining()).isLessThan(Duration.ofSeconds(1));
  }

  /** 1 % for a store whose clock runs faster, and 2 ms for one that counts whole milliseconds. */
  @Test
  void aLeaseIsTrustedForItsLengthLessDriftAndMargin() {
    Lease lease = granted(lock.tryAcquireAsync(LONG), held(1));
    assertThat(lease.remaining())
        .isEqualTo(LEASE.minus(LEASE.dividedBy(100)).minus(Duration.ofMillis(2)));
  }

  @Test
  void aGrantOlderThanItsLeaseIsGivenBackAndAskedForAnew() {
    var future = lock.tryAcquireAsync(LONG);
    pass(LEASE);
    store.attempt(0).answer().complete(held(1));
    pass(Duration.ofMillis(20));
    assertThat(future).isNotDone();
    assertThat(store.withdrawals)
        .extracting(Claim::id)
        .containsExactly(store.attempt(0).claim().id());
    assertThat(store.attempt(1).claim().id()).isNotEqualTo(store.attempt(0).claim().id());
  }

  /** The store was slow once: that is neither an outage nor busy. */
  @Test
  void whoDoesNotWaitIsAskedForOnceMoreAfterAnAnswerOlderThanTheLease() {
    var lease = LockOptions.defaults().lease(Claim.MIN_LEASE);
    var future = new DistributedLock(engine, "short", lease).tryAcquireAsync(Duration.ZERO);
    pass(Claim.MIN_LEASE);
    store.attempt(0).answer().complete(held(1));
    pass(Duration.ZERO);
    assertThat(store.withdrawals).containsExactly(store.attempt(0).claim());

    store.attempt(1).answer().complete(held(2));
    pass(Duration.ZERO);

    assertThat(future.join()).map(Lease::token).contains(2L);
  }

  @Test
  void whoDoesNotWaitIsToldOfAStoreThatIsSlowerThanTheLeaseTwice() {
    var lease = LockOptions.defaults().lease(Claim.MIN_LEASE);
    var future = new DistributedLock(engine, "short", lease).tryAcquireAsync(Duration.ZERO);
    for (int i = 0; i < 2; i++) {
      pass(Claim.MIN_LEASE);
      store.attempt(i).answer().complete(held(1 + i));
      pass(Duration.ZERO);
    }
    assertThat(future)
        .isCompletedExceptionally()
        .failsWithin(Duration.ZERO)
        .withThrowableThat()
        .withCauseInstanceOf(StoreUnavailableException.class);
    assertThat(store.attempts).hasSize(2);
  }

  @Test
  void whoDoesNotWaitIsToldOfASilentStoreInHalfASecond() {
    var future = lock.tryAcquireAsync(Duration.ZERO);
    pass(Duration.ofNanos(engine.graceNanos() - 1));
    assertThat(future).isNotDone();
    pass(Duration.ofNanos(1));
    assertThat(future).isCompletedExceptionally();
    assertThat(store.withdrawals).singleElement().matches(Claim::unsettled);
  }

  @Test
  void aWaitThatIsOverEndsWithTheAnswerOfAStoreThatWasSilent() {
    var future = lock.tryAcquireAsync(Duration.ofMillis(10));
    pass(Duration.ofMillis(200));
    assertThat(future).isNotDone();

    store.attempt(0).answer().complete(WAITING);
    pass(Duration.ZERO);

    assertThat(future.join()).as("busy").isEmpty();
  }

  /** Ten thousand of them would keep the one timer from renewing leases. */
  @Test
  void aWaitThatIsOverLooksTwiceAtASilentStore() {
    var future = lock.tryAcquireAsync(Duration.ofMillis(10));
    long before = client.executed();
    pass(Duration.ofSeconds(1));
    assertThat(future).isCompletedExceptionally();
    assertThat(client.executed() - before).isLessThan(10);
  }

  /** The store is down since 59 s; the patience is a minute. */
  @Test
  void whoComesLateToAFailingLineHasPatienceOfItsOwn() {
    var first = lock.tryAcquireAsync(LONG);
    failAllFor(Duration.ofSeconds(59));
    var second = lock.tryAcquireAsync(LONG);
    failAllFor(Duration.ofSeconds(3));
    assertThat(first).isCompletedExceptionally();
    assertThat(second).isNotDone();
    failAllFor(Duration.ofSeconds(50));
    assertThat(second).isNotDone();
    failAllFor(Duration.ofSeconds(10));
    assertThat(second).as("patient since it came, not since the last one gave up").isDone();
  }

  /** Each has a claim of its own, and those of newcomers have failed for less than a minute. */
  @Test
  void whoWaitsForAPermitIsNoMorePatientThanAMinuteThoughOthersKeepComing() {
    var permits = new DistributedSemaphore(engine, "permits", 2, LockOptions.defaults());
    var first = permits.tryAcquireAsync(1, LONG);
    failAllFor(Duration.ofSeconds(40));
    var second = permits.tryAcquireAsync(1, LONG);
    failAllFor(Duration.ofSeconds(25));
    assertThat(first).isCompletedExceptionally();
    assertThat(second).isNotDone();
    permits.tryAcquireAsync(1, LONG);
    failAllFor(Duration.ofSeconds(40));
    assertThat(second).isCompletedExceptionally();
  }

  /** Else those who come while it is refused would keep whoever came first from hearing of it. */
  @Test
  void aFinalFailureIsToldToWhomItIsAboutThoughTheClaimOfAnotherIsUnderWay() {
    var permits = new DistributedSemaphore(engine, "permits", 2, LockOptions.defaults());
    var first = permits.tryAcquireAsync(1, LONG);
    var second = permits.tryAcquireAsync(1, LONG);
    store.attempt(0).answer().completeExceptionally(new StoreException("denied"));
    pass(Duration.ZERO);
    assertThat(first).isCompletedExceptionally();
    assertThat(second).isNotDone();
  }

  /** Its claim has a place in the store's queue, where it comes first. */
  @Test
  void whoStandsInLineKeepsItsPlaceThoughItsRenewalFailsAndWhoCameLaterIsRefused() {
    var permits = new DistributedSemaphore(engine, "permits", 2, LockOptions.defaults());
    var first = permits.tryAcquireAsync(1, LONG);
    store.attempt(0).answer().complete(new Standing.Waiting(Duration.ofMinutes(1)));
    pass(Duration.ofSeconds(30));
    var second = permits.tryAcquireAsync(1, LONG);
    store.renewals.forEach(each -> each.answer().completeExceptionally(unavailable()));
    store.attempt(1).answer().completeExceptionally(new StoreException("denied"));
    pass(Duration.ZERO);
    assertThat(store.renewals).isNotEmpty();
    assertThat(second).isCompletedExceptionally();
    assertThat(first).isNotDone();
  }

  /** It asks all at once before it waits for the first, which would be patient once more. */
  @Test
  void aGroupIsNoMorePatientThanAnyOtherRequest() {
    var group = new LockGroup(engine, List.of("a", "b"), LockOptions.defaults()).acquireAsync();
    failAllFor(Duration.ofSeconds(63));
    assertThat(group).isCompletedExceptionally();
  }

  @Test
  void patienceCountsFromTheQuestionNotFromItsFailure() {
    var future = lock.tryAcquireAsync(LONG);
    pass(Duration.ofMinutes(1));
    store.attempt(0).answer().completeExceptionally(unavailable());
    pass(Duration.ZERO);
    assertThat(future).isCompletedExceptionally();
  }

  private void failAllFor(Duration length) {
    for (Duration spent = Duration.ZERO;
        spent.compareTo(length) < 0;
        spent = spent.plusMillis(100)) {
      List.copyOf(store.attempts)
          .forEach(attempt -> attempt.answer().completeExceptionally(unavailable()));
      pass(Duration.ofMillis(100));
    }
  }

  @Test
  void aFailedAttemptIsRepeatedUnderTheSameIdAndItsClaimWithdrawnAsUnsettled() {
    var future = lock.tryAcquireAsync(LONG);
    store.attempt(0).answer().completeExceptionally(unavailable());
    pass(Duration.ofMillis(20));
    assertThat(store.attempt(1).claim()).isEqualTo(store.attempt(0).claim());
    future.cancel(false);
    pass(Duration.ZERO);
    assertThat(store.withdrawals).singleElement().matches(Claim::unsettled);
  }

  @Test
  void aFailureThatComesAfterTheBellUndoesNoGrant() {
    var future = lock.tryAcquireAsync(LONG);
    store.attempt(0).bell().ring(held(1));
    pass(Duration.ZERO);
    Lease lease = future.join().orElseThrow();
    store.attempt(0).answer().completeExceptionally(unavailable());
    pass(Duration.ofMillis(900));
    assertThat(store.attempts).hasSize(1);
    assertThat(store.withdrawals).isEmpty();
    assertThat(lease.isValid()).isTrue();
  }

  @Test
  void anAnswerThatTheBellOvertookIsNoLoss() {
    var future = lock.tryAcquireAsync(LONG);
    store.attempt(0).bell().ring(held(1));
    store.attempt(0).answer().complete(WAITING);
    pass(Duration.ZERO);
    assertThat(future.join().orElseThrow().isValid()).isTrue();
  }

  @Test
  void aBellOfARepeatedClaimIsOnlyAReasonToAsk() {
    var future = lock.tryAcquireAsync(LONG);
    store.attempt(0).answer().completeExceptionally(unavailable());
    pass(LEASE.plusSeconds(1));
    store.attempt(1).answer().complete(WAITING);
    store.attempt(0).bell().ring(held(1));
    pass(Duration.ofMillis(1));
    assertThat(future).isNotDone();
    store.renewals.get(0).answerAll(held(9));
    pass(Duration.ZERO);
    assertThat(future.join()).map(Lease::token).contains(9L);
  }

  @Test
  void aHoldWhoseBellSaysThatItIsGoneIsRenewedAtOnceAndEndsByTheAnswer() {
    Lease lease = granted(lock.tryAcquireAsync(LONG), held(7));
    store.attempt(0).bell().ring(Standing.GONE);
    pass(Duration.ZERO);
    assertThat(store.renewals).hasSize(1);
    store.renewals.get(0).answerAll(held(7));
    pass(Duration.ZERO);
    assertThat(lease.isValid()).isTrue();

    store.attempt(0).bell().ring(Standing.GONE);
    pass(Duration.ZERO);
    assertThat(lease.isValid()).isTrue();
    store.renewals.get(1).answerAll(Standing.GONE);

    assertThat(lease.isValid()).isFalse();
  }

  @Test
  void aRenewalThatWasSentBeforeTheBellDoesNotAnswerIt() {
    granted(lock.tryAcquireAsync(LONG), held(7));
    pass(LEASE.dividedBy(3));
    assertThat(store.renewals).hasSize(1);
    store.attempt(0).bell().ring(Standing.GONE);
    pass(Duration.ZERO);
    store.renewals.get(0).answerAll(held(7));
    pass(Duration.ZERO);
    assertThat(store.renewals).hasSize(2);
  }

  @Test
  void aGrantThatNoBellToldOfIsCounted() {
    var rungFor = lock.tryAcquireAsync(LONG);
    store.attempt(0).answer().complete(WAITING);
    store.attempt(0).bell().ring(held(1));
    pass(Duration.ZERO);
    rungFor.join().orElseThrow().close();
    pass(Duration.ZERO);
    assertThat(engine.figures()).containsEntry("bells.missed", 0L);

    var askedFor = lock.tryAcquireAsync(LONG);
    store.attempt(1).answer().complete(WAITING);
    pass(LEASE.dividedBy(3));
    store.renewals.get(store.renewals.size() - 1).answerAll(held(2));
    pass(Duration.ZERO);

    assertThat(askedFor.join()).isPresent();
    assertThat(engine.figures()).containsEntry("bells.missed", 1L);
  }

  @Test
  void aRenewalThatIsAnsweredAfterMoreThanTwoThirdsOfTheLeaseIsCountedAsLate() {
    Lease lease = granted(lock.tryAcquireAsync(LONG), held(7));
    pass(LEASE.dividedBy(3));
    store.renewals.get(0).answerAll(held(7));
    pass(Duration.ZERO);
    assertThat(engine.figures()).containsEntry("renewals.late", 0L);

    pass(LEASE.multipliedBy(8).dividedBy(10));
    store.renewals.get(1).answerAll(held(7));
    pass(Duration.ZERO);

    assertThat(engine.figures()).containsEntry("renewals.late", 1L);
    assertThat(lease.isValid()).isTrue();
  }

  @Test
  void theOldestRenewalIsThatOfWhichTheLargestPartOfItsLeaseHasPassed() {
    assertThat(engine.oldestRenewal()).isNull();
    DistributedLock other =
        new DistributedLock(engine, "other", LockOptions.defaults().lease(LEASE.multipliedBy(10)));
    DistributedLock ending =
        new DistributedLock(engine, "ending", LockOptions.defaults().lease(LEASE).renewal(false));
    Lease slow = granted(other.tryAcquireAsync(LONG), held(7));
    Lease unrenewed = granted(1, ending.tryAcquireAsync(LONG), held(7));
    pass(LEASE.dividedBy(10));
    Lease quick = granted(2, lock.tryAcquireAsync(LONG), held(7));
    pass(LEASE.dividedBy(10));

    Engine.RenewalAge oldest = engine.oldestRenewal();
    assertThat(oldest.claim().lock()).isEqualTo("lock");
    assertThat(oldest.nanos()).isEqualTo(LEASE.dividedBy(10).toNanos());
    quick.closeAsync();
    assertThat(engine.oldestRenewal().claim().lock()).isEqualTo("other");
    slow.closeAsync();
    assertThat(engine.oldestRenewal()).isNull();
    unrenewed.closeAsync();
  }

  @Test
  void aBellThatRingsDuringARenewalIsLookedAfterAtOnce() {
    var future = lock.tryAcquireAsync(LONG);
    store.attempt(0).answer().completeExceptionally(unavailable());
    pass(Duration.ofMillis(20));
    store.attempt(1).answer().complete(WAITING);
    pass(LEASE.dividedBy(3));
    store.attempt(1).bell().ring(held(1));
    pass(Duration.ofMillis(1));
    store.renewals.get(0).answerAll(WAITING);
    pass(Duration.ofMillis(1));
    store.renewals.get(1).answerAll(held(1));
    pass(Duration.ZERO);
    assertThat(future.join()).map(Lease::token).contains(1L);
  }

  @Test
  void aWaiterThatMissedItsBellIsToldByItsNextRenewal() {
    var future = lock.tryAcquireAsync(LONG);
    store.attempt(0).answer().complete(WAITING);
    pass(LEASE.dividedBy(3));
    store.renewals.get(0).answerAll(held(4));
    pass(Duration.ZERO);
    assertThat(future.join()).map(Lease::token).contains(4L);
  }

  @Test
  void p6_someoneGetsIn_aWaiterAsksAgainAfterTwoSecondsThoughItsLeaseIsLong() {
    LockOptions options = LockOptions.defaults().lease(Duration.ofMinutes(1));
    new DistributedLock(engine, "lock", options).tryAcquireAsync(LONG);
    store.attempt(0).answer().complete(WAITING);

    for (int asked = 1; asked <= 3; asked++) {
      pass(Duration.ofSeconds(2));
      assertThat(store.renewals).hasSizeGreaterThanOrEqualTo(asked);
      store.renewals.forEach(each -> each.answerAll(WAITING));
    }
  }

  /** Nobody rings when a holder that has crashed runs out. */
  @Test
  void p6_someoneGetsIn_aWaiterAsksAgainWhenTheHoldersLeaseRunsOut() {
    Duration left = Duration.ofMillis(300);
    var future = lock.tryAcquireAsync(LONG);
    store.attempt(0).answer().complete(new Standing.Waiting(left));
    pass(left.minusNanos(1));
    assertThat(store.renewals).isEmpty();

    pass(Duration.ofMillis(2));

    assertThat(store.renewals).hasSize(1);
    store.renewals.get(0).answerAll(held(4));
    pass(Duration.ZERO);
    assertThat(future.join()).map(Lease::token).contains(4L);
  }

  /** 2 % of the lease, and 20 ms of a longer one. */
  @Test
  void p5_lossIsTold_shortlyBeforeTheDeadlineAndNoSooner() {
    for (Duration length : List.of(Duration.ofMillis(500), LEASE)) {
      losses.set(0);
      int asked = store.attempts.size();
      var future =
          new DistributedLock(engine, "of " + length, LockOptions.defaults().lease(length))
              .tryAcquireAsync(LONG);
      store.attempt(asked).answer().complete(held(1));
      pass(Duration.ZERO);
      Lease lease = future.join().orElseThrow();
      lease.onLost(losses::incrementAndGet);
      Duration early = length.compareTo(LEASE) < 0 ? length.dividedBy(50) : Duration.ofMillis(20);
      pass(lease.remaining().minus(early).minusNanos(1));
      assertThat(losses).as("%s", length).hasValue(0);

      pass(early);

      assertThat(losses).as("%s", length).hasValue(1);
    }
  }

  @Test
  void aWithdrawalThatFailsIsTriedAgain() {
    Lease lease = granted(lock.tryAcquireAsync(LONG), held(1));
    store.failingWithdrawals = 2;
    var closed = lease.closeAsync();
    pass(Duration.ofSeconds(1));
    assertThat(closed).isCompleted();
    assertThat(store.withdrawals).hasSize(3);
  }

  @Test
  void aWithdrawalIsGivenUpWhenTheClaimHasRunOutAnyway() {
    Lease lease = granted(lock.tryAcquireAsync(LONG), held(1));
    store.failingWithdrawals = Integer.MAX_VALUE;
    var closed = lease.closeAsync();
    pass(LEASE.plusSeconds(1));
    assertThat(closed).isCompletedExceptionally();
    assertThat(engine.isIdle()).isTrue();
  }

  @Test
  void aLostRenewalReplyIsMendedByTheNext() {
    Lease lease = granted(lock.tryAcquireAsync(LONG), held(1));
    lease.onLost(losses::incrementAndGet);
    pass(LEASE.dividedBy(3));
    store.renewals.get(0).answer().completeExceptionally(unavailable());
    pass(LEASE.dividedBy(6));
    store.renewals.get(1).answerAll(held(1));
    pass(LEASE.dividedBy(2));
    assertThat(lease.isValid()).isTrue();
    assertThat(losses).hasValue(0);
  }

  @Test
  void withNoRenewalAnsweredTheHolderIsToldOnceAndBeforeTheDeadline() {
    Lease lease = granted(lock.tryAcquireAsync(LONG), held(1));
    Duration deadline = lease.remaining();
    lease.onLost(losses::incrementAndGet);
    pass(deadline.minusNanos(1));
    assertThat(losses).hasValue(1);
    pass(LEASE);
    assertThat(lease.isValid()).isFalse();
    assertThat(losses).hasValue(1);
    assertThat(lease.closeAsync()).isCompletedExceptionally();
  }

  /** Evicted; or run out, and in line or held again by a copy of its attempt that came late. */
  static List<Standing> lost() {
    return List.of(Standing.GONE, WAITING, held(2));
  }

  @ParameterizedTest
  @MethodSource("lost")
  void aHolderThatHoldsNoMoreIsToldByTheNextRenewal(Standing standing) {
    Lease lease = granted(lock.tryAcquireAsync(LONG), held(1));
    lease.onLost(losses::incrementAndGet);
    pass(LEASE.dividedBy(3));
    store.renewals.get(0).answerAll(standing);
    pass(Duration.ZERO);
    assertThat(losses).hasValue(1);
    assertThat(lease.isValid()).isFalse();
    assertThat(store.withdrawals).hasSize(1);
  }

  @Test
  void aDowngradeThatFailsIsMadeAgainUntilTheLeaseIsLost() {
    Lease lease = granted(lock.tryAcquireAsync(LONG), held(1));
    var downgraded = lease.downgradeAsync();
    store.attempt(1).answer().completeExceptionally(unavailable());
    pass(Duration.ofMillis(20));
    assertThat(downgraded).isNotDone();
    assertThat(lease.isShared()).isFalse();
    pass(LEASE);
    store.attempt(2).answer().completeExceptionally(unavailable());
    pass(Duration.ofSeconds(1));
    assertThat(store.attempts).hasSize(3);
    assertThat(downgraded)
        .failsWithin(Duration.ZERO)
        .withThrowableThat()
        .withCauseInstanceOf(LeaseLostException.class);
  }

  @Test
  void anUnlockWhoseDowngradeFailedIsRepeatedUntilOneSucceeds() {
    JavaReadWriteLock both =
        new DistributedReadWriteLock(
                engine, "lock", LockOptions.defaults().lease(LEASE), new ReentrantHolds())
            .asJavaReadWriteLock();
    store.answers.add(CompletableFuture.completedFuture(held(1)));
    store.answers.add(CompletableFuture.failedFuture(new StoreException("scripted")));
    store.answers.add(CompletableFuture.completedFuture(held(1)));
    both.writeLock().lock();
    both.readLock().lock();
    assertThatThrownBy(both.writeLock()::unlock).isInstanceOf(StoreException.class);
    assertThat(both.writeLock().isHeldByCurrentThread()).isFalse();

    both.writeLock().unlock();

    assertThat(store.attempt(2).claim().mode()).isEqualTo(Mode.SHARED);
    assertThatThrownBy(both.writeLock()::unlock).isInstanceOf(IllegalMonitorStateException.class);
    both.readLock().unlock();
    assertThat(store.withdrawals).hasSize(1);
  }

  @Test
  void anErrorInOneCallbackSilencesNoOther() {
    Lease lease = granted(lock.tryAcquireAsync(LONG), held(1));
    lease.onLost(
        () -> {
          throw new AssertionError("a bug in the callback");
        });
    lease.onLost(losses::incrementAndGet);
    pass(LEASE);
    assertThat(losses).hasValue(1);
  }

  @Test
  void aStoreThatFailsIsNeverReportedAsBusyToWhoeverFindsAWaiterInTheWay() {
    lock.tryAcquireAsync(LONG);
    store.attempt(0).answer().completeExceptionally(unavailable());
    var impatient = lock.tryAcquireAsync(Duration.ZERO);
    pass(Duration.ZERO);
    assertThat(impatient).isCompletedExceptionally();
  }

  @Test
  void aStoreThatFailsIsNotReportedAsBusyByTheClaimOfThoseWhoArePatientStill() {
    var first = lock.tryAcquireAsync(LONG);
    store.attempt(0).answer().completeExceptionally(unavailable());
    pass(Duration.ofSeconds(1));
    var second = lock.tryAcquireAsync(LONG);
    for (int i = 1; !first.isDone(); i++) {
      pass(Duration.ofSeconds(1));
      store.attempt(i).answer().completeExceptionally(unavailable());
      pass(Duration.ZERO);
    }
    assertThat(second).isNotDone();
    var impatient = lock.tryAcquireAsync(Duration.ZERO);
    pass(Duration.ZERO);
    assertThat(impatient).isCompletedExceptionally();
  }

  @Test
  void afterTheClientsPatienceAFailureReachesTheUserAndNothingIsLeft() {
    var future = lock.tryAcquireAsync(LONG);
    for (int i = 0; !future.isDone(); i++) {
      store.attempt(i).answer().completeExceptionally(unavailable());
      pass(Duration.ofSeconds(1));
    }
    assertThat(future).isCompletedExceptionally();
    assertThat(store.attempts).hasSizeBetween(60, 80);
    assertThat(engine.isIdle()).isTrue();
  }

  private Lease granted(CompletableFuture<Optional<Lease>> future, Standing standing) {
    return granted(0, future, standing);
  }

  private Lease granted(int attempt, CompletableFuture<Optional<Lease>> future, Standing standing) {
    store.attempt(attempt).answer().complete(standing);
    pass(Duration.ZERO);
    return future.join().orElseThrow();
  }

  private void pass(Duration length) {
    client.pass(length);
  }
}
