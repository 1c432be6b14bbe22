package io.pawl;

import static io.pawl.ScriptedStore.WAITING;
import static io.pawl.ScriptedStore.held;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.engine.Asker;
import io.pawl.engine.GroupAcquisition;
import io.pawl.engine.QueueKey;
import io.pawl.engine.Requests;
import io.pawl.error.LockKindException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.options.LockOptions;
import io.pawl.options.PawlOptions;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Kind;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import io.pawl.spi.rule.GrantRule;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Whom a client serves under one hold of the store, in which order, and for how long. */
class LocalQueueTest {

  private static final Duration LEASE = Duration.ofSeconds(3);
  private static final Duration LONG = Duration.ofDays(1);
  private static final LockOptions PASSING = LockOptions.defaults().lease(LEASE);
  private static final LockOptions STRICT = PASSING.strictOrder();

  /** Longer than a store may be silent. */
  private static final Duration SILENCE = Duration.ofSeconds(1);

  /** For which whoever runs already may overtake whoever is parked: half a millisecond. */
  private static final Duration SLICE = Duration.ofNanos(500_000);

  private static final Duration SHORT_RUN = SLICE.dividedBy(2);

  private static final QueueKey TWO_FOR_SHORT =
      new QueueKey("permits", PASSING.localPassing(100, SHORT_RUN), new Mode.Permits(1, 2));

  private final ScriptedClient client = new ScriptedClient(PawlOptions.defaults());
  private final ScriptedStore store = client.store();

  @Test
  void followersAreServedInTheirOrderUnderOneHoldAndTheirOwnClaimsWithdrawn() {
    List<Requested> line = inLine(STRICT, STRICT, STRICT, STRICT);
    grant(line.get(1), 10, line.get(2), line.get(3));
    assertThat(withdrawn()).containsExactlyInAnyOrder(line.get(2).id(), line.get(3).id());
    assertThat(line.get(2).future).isNotDone();

    line.get(1).close();
    assertThat(line.get(2).token()).isEqualTo(11);
    assertThat(line.get(3).future).isNotDone();
    line.get(2).close();
    assertThat(line.get(3).token()).isEqualTo(12);
    line.get(3).close();

    assertThat(withdrawn()).hasSize(3).endsWith(line.get(1).id());
    assertThat(store.attempts).as("no further trip").hasSize(4);
  }

  /**
   * Their answers may be heard after the grant that names them. A store that remembered each would
   * carry a thousand ids through every change of a lock that many threads take in turns.
   */
  @Test
  void aFollowerLeavesNothingToRememberThoughItsOwnAnswerIsNotHeardYet() {
    store.attemptsArriveOnce = true;
    assertThat(unsettledFollowers()).isEmpty();
  }

  @Test
  void p4_endingIsFinal_aFollowerIsRememberedWhereItsAttemptMayArriveTwice() {
    assertThat(unsettledFollowers()).hasSize(2);
  }

  /** That question may come behind its withdrawal, and would take a place that is nobody's. */
  @Test
  void p4_endingIsFinal_aFollowerIsRememberedThatAsksAgainBeforeItIsWithdrawn() {
    store.attemptsArriveOnce = true;
    List<Requested> line = inLine(STRICT, STRICT);
    client.pass(LEASE.dividedBy(3));
    ClaimId follower = line.get(1).id();
    store.answerRenewals(claim -> claim.id().equals(follower) ? null : WAITING);
    client.handingOver =
        () -> {
          client.handingOver = () -> {};
          client.pass(Duration.ofMillis(20));
        };
    grant(line.get(0), 10, line.get(1));

    assertThat(store.attempts).as("it has asked again").hasSize(3);
    assertThat(withdrawn()).containsExactly(follower);
    assertThat(store.withdrawals.get(0).unsettled()).isTrue();
  }

  private List<Claim> unsettledFollowers() {
    List<Requested> line = Stream.of(STRICT, STRICT, STRICT).map(this::request).toList();
    line.get(0).attempt.answer().complete(WAITING);
    grant(line.get(0), 10, line.get(1), line.get(2));

    assertThat(withdrawn()).containsExactlyInAnyOrder(line.get(1).id(), line.get(2).id());
    return store.withdrawals.stream().filter(Claim::unsettled).toList();
  }

  /** Else the permit lies free beside it, for as long as whoever was called holds another one. */
  @Test
  void whoeverStandsBehindAWaiterThatWasCalledAndServedOtherwiseIsCalledInItsPlace() {
    QueueKey two = new QueueKey("permits", PASSING, new Mode.Permits(1, 2));
    CompletableFuture<Optional<Lease>> holder = ask(two, LONG);
    store.attempt(0).answer().complete(new Standing.Held(10, 20));
    client.pass(Duration.ZERO);
    CompletableFuture<Optional<Lease>> called = ask(two, LONG);
    store.attempt(1).answer().complete(WAITING);
    CompletableFuture<Optional<Lease>> behind = ask(two, LONG);
    client.pass(Duration.ZERO);

    holder.join().orElseThrow().close();
    store.attempt(1).bell().ring(held(30));
    client.pass(Duration.ZERO);

    assertThat(called.join().orElseThrow().token()).isEqualTo(30);
    assertThat(behind).as("called in its place").isDone();
    assertThat(behind.join().orElseThrow().token()).isEqualTo(11);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void whoComesAsALockIsReleasedOvertakesForHalfAMillisecondAtATime(boolean isOver) {
    QueueKey key = new QueueKey("lock", PASSING, Mode.EXCLUSIVE);
    CompletableFuture<Optional<Lease>> holder = ask(key, LONG);
    store.attempt(0).answer().complete(new Standing.Held(10, 20));
    client.pass(Duration.ZERO);
    CompletableFuture<Optional<Lease>> parked = ask(key, LONG);
    client.pass(isOver ? SLICE : SLICE.minusNanos(1));

    assertThat(holder.join().orElseThrow().closeAsync()).isCompleted();
    CompletableFuture<Optional<Lease>> running = ask(key, LONG);
    client.pass(Duration.ZERO);

    assertThat(running.isDone()).isEqualTo(!isOver);
    assertThat(parked.isDone()).isEqualTo(isOver);
    assertThat((isOver ? parked : running).join().orElseThrow().token()).isEqualTo(11);
  }

  /** Who was called to the free one is handed the other, whose slice is over. */
  @Test
  void aPermitThatLiesFreeIsForTheNextWhenWhoWasCalledToItIsHandedAnother() {
    QueueKey two = new QueueKey("permits", PASSING, new Mode.Permits(1, 2));
    CompletableFuture<Optional<Lease>> first = ask(two, LONG);
    store.attempt(0).answer().complete(new Standing.Held(10, 20));
    client.pass(SLICE);
    CompletableFuture<Optional<Lease>> second = ask(two, LONG);
    store.attempt(1).answer().complete(new Standing.Held(30, 40));
    client.pass(Duration.ZERO);
    CompletableFuture<Optional<Lease>> called = ask(two, LONG);
    CompletableFuture<Optional<Lease>> behind = ask(two, LONG);

    second.join().orElseThrow().close();
    first.join().orElseThrow().close();
    client.pass(Duration.ZERO);

    assertThat(called.join().orElseThrow().token()).as("handed over").isEqualTo(11);
    assertThat(behind).as("called to what lies free").isDone();
    assertThat(behind.join().orElseThrow().token()).isEqualTo(31);
  }

  /** Else both sleep, the permit and the waiter, for as long as nobody else comes. */
  @Test
  void whoeverFindsAPermitThatMayNotBePassedOnTakesTheNextThatLiesFree() {
    List<CompletableFuture<Optional<Lease>>> permits = twoPermits();
    CompletableFuture<Optional<Lease>> called = ask(TWO_FOR_SHORT, LONG);

    permits.get(0).join().orElseThrow().close();
    permits.get(1).join().orElseThrow().close();
    client.freeze(SHORT_RUN.dividedBy(4).multipliedBy(3));
    client.pass(Duration.ofNanos(1));

    assertThat(withdrawn()).containsExactly(store.attempt(0).claim().id());
    assertThat(called).isDone();
    assertThat(called.join().orElseThrow().token()).isEqualTo(31);
  }

  @Test
  void whoeverIsOvertakenAsksTheStoreForThePermitThatWasGivenBack() {
    List<CompletableFuture<Optional<Lease>>> permits = twoPermits();
    CompletableFuture<Optional<Lease>> called = ask(TWO_FOR_SHORT, LONG);

    permits.get(1).join().orElseThrow().close();
    client.freeze(SHORT_RUN.dividedBy(4).multipliedBy(3));
    permits.get(0).join().orElseThrow().close();
    CompletableFuture<Optional<Lease>> faster = ask(TWO_FOR_SHORT, LONG);
    client.pass(Duration.ofNanos(1));

    assertThat(faster.join().orElseThrow().token()).isEqualTo(31);
    assertThat(store.attempts).hasSize(3);
    store.attempt(2).answer().complete(held(50));
    client.pass(Duration.ZERO);
    assertThat(called.join().orElseThrow().token()).isEqualTo(50);
  }

  @Test
  void busyIsNotSaidForLongOfAClaimForWhoseQuestionThereIsNoThread() {
    store.blocks = true;
    DistributedLock lock = new DistributedLock(client.engine(), "lock", PASSING);
    lock.tryAcquireAsync(LONG);

    assertSaidToBeSilent(askedAfterSilence(lock));
  }

  /** The question of the next comes after the release of the one before. */
  @Test
  void busyIsNotSaidForLongOfAClaimBeforeWhichAReleaseIsNotAnswered() {
    store.blocks = true;
    DistributedLock lock = new DistributedLock(client.engine(), "lock", PASSING);
    CompletableFuture<Optional<Lease>> holder = lock.tryAcquireAsync(LONG);
    client.pass(Duration.ZERO);
    store.attempt(0).answer().complete(held(1));
    client.pass(Duration.ZERO);
    lock.tryAcquireAsync(LONG);
    List<CompletableFuture<?>> asked = new ArrayList<>();
    store.withdrawing = claim -> asked.add(askedAfterSilence(lock));

    holder.join().orElseThrow().close();

    assertThat(asked).hasSize(1);
    assertSaidToBeSilent(asked.get(0));
  }

  private CompletableFuture<?> askedAfterSilence(DistributedLock lock) {
    client.freeze(SILENCE);
    CompletableFuture<?> future = lock.tryAcquireAsync(Duration.ZERO);
    client.pass(Duration.ofNanos(1));
    return future;
  }

  private static void assertSaidToBeSilent(CompletableFuture<?> future) {
    assertThat(future)
        .failsWithin(Duration.ZERO)
        .withThrowableThat()
        .withCauseInstanceOf(StoreUnavailableException.class);
  }

  /** It asks each lock without a wait first, and meets a request that has trouble already. */
  @Test
  void aGroupThatWaitsDoesNotFailForTheTroubleOfARequestBeforeIt() {
    QueueKey a = new QueueKey("a", PASSING, Mode.EXCLUSIVE);
    QueueKey b = new QueueKey("b", PASSING, Mode.EXCLUSIVE);
    CompletableFuture<Optional<Lease>> before = ask(a, LONG);
    client.pass(Duration.ofMillis(600));
    GroupAcquisition group =
        new GroupAcquisition(
            client.engine(),
            List.of(new Requests(client.engine(), a), new Requests(client.engine(), b)),
            new Asker("group", ""),
            LONG.toNanos());
    group.start(false);
    client.pass(Duration.ZERO);
    assertThat(group.outcome()).isNotDone();

    store.attempt(0).answer().complete(new Standing.Held(10, 20));
    client.pass(Duration.ZERO);
    before.join().orElseThrow().close();
    client.pass(Duration.ZERO);
    store.attempt(store.attempts.size() - 1).answer().complete(held(1));
    client.pass(Duration.ZERO);

    assertThat(group.outcome().join()).isPresent();
  }

  @Test
  void aClaimInTheQueueEndsWithTheLastThatItStandsForThoughThatOneDoesNotWait() {
    LockOptions options = PASSING.lease(Duration.ofMillis(100));
    QueueKey key = new QueueKey("a", options, Mode.EXCLUSIVE);
    CompletableFuture<Optional<Lease>> impatient = ask(key, Duration.ZERO);
    CompletableFuture<Optional<Lease>> patient = ask(key, LONG);
    client.freeze(Duration.ofMillis(200));
    store.attempt(0).answer().complete(held(1));
    client.pass(Duration.ofMillis(10));
    Claim again = store.attempt(1).claim();
    assertThat(again.queues()).isTrue();
    patient.cancel(false);
    store.attempt(1).answer().complete(WAITING);
    client.pass(Duration.ofMillis(10));

    assertThat(impatient).isCompletedWithValue(Optional.empty());
    assertThat(withdrawn()).endsWith(again.id());
  }

  @Test
  void nobodyIsToldBusyBehindARequestThatTheStoreHasNotAnsweredFor500Ms() {
    QueueKey key = new QueueKey("a", PASSING, Mode.EXCLUSIVE);
    CompletableFuture<Optional<Lease>> first = ask(key, LONG);
    client.pass(Duration.ofMillis(499));
    CompletableFuture<Optional<Lease>> early = ask(key, Duration.ZERO);
    client.pass(Duration.ofMillis(1));
    CompletableFuture<Optional<Lease>> late = ask(key, Duration.ZERO);
    client.pass(Duration.ZERO);

    assertThat(early).isCompletedWithValue(Optional.empty());
    assertThatThrownBy(late::join).hasCauseInstanceOf(StoreUnavailableException.class);
    assertThat(first).isNotDone();
  }

  private CompletableFuture<Optional<Lease>> ask(QueueKey key, Duration wait) {
    return new Requests(client.engine(), key).tryAcquireAsync(wait, loan -> loan.map(Lease::new));
  }

  /** It asks in another way, so that the hold is not for it, and stays where it stands. */
  @Test
  void whoStandsBehindAFollowerThatStaysIsNotServedBeforeIt() {
    LockOptions other = STRICT.lease(LEASE.dividedBy(2));
    List<Requested> line = inLine(STRICT, STRICT, other, STRICT);
    grant(line.get(1), 10, line.get(2), line.get(3));
    assertThat(withdrawn()).isEmpty();

    line.get(1).close();

    assertThat(withdrawn()).containsExactly(line.get(1).id());
    assertThat(line.get(2).future).isNotDone();
    assertThat(line.get(3).future).isNotDone();
  }

  @Test
  void aFollowerThatHasLeftIsPassedOver() {
    List<Requested> line = inLine(STRICT, STRICT, STRICT, STRICT);
    line.get(2).future.cancel(false);
    client.pass(Duration.ZERO);
    grant(line.get(1), 10, line.get(2), line.get(3));

    line.get(1).close();

    assertThat(line.get(3).token()).isEqualTo(11);
  }

  @Test
  void whenTheirHoldIsLostFollowersStandInLineEachForItself() {
    List<Requested> line = inLine(STRICT, STRICT, STRICT, STRICT);
    grant(line.get(1), 10, line.get(2), line.get(3));
    client.pass(LEASE);

    assertThat(line.get(1).future.join().orElseThrow().isValid()).isFalse();
    assertThat(store.attempts).hasSize(6);
    assertThat(store.attempts).extracting(attempt -> attempt.claim().id()).doesNotHaveDuplicates();
  }

  /** A reader's hold serves no writer: those who were to follow have lost their places. */
  @Test
  void whenTheirHoldIsDowngradedFollowersStandInLineEachForItself() {
    List<Requested> line = inLine(STRICT, STRICT, STRICT, STRICT);
    grant(line.get(1), 10, line.get(2), line.get(3));
    var downgraded = line.get(1).future.join().orElseThrow().downgradeAsync();
    store.attempts.get(store.attempts.size() - 1).answer().complete(new Standing.Held(10, 73));
    client.pass(Duration.ZERO);
    assertThat(downgraded).isCompleted();

    assertThat(line.get(2).future).isNotDone();
    assertThat(line.get(3).future).isNotDone();
    assertThat(store.attempts.stream().skip(line.size()))
        .extracting(ScriptedStore.Attempt::claim)
        .filteredOn(claim -> claim.mode() instanceof Mode.Exclusive)
        .extracting(Claim::id)
        .hasSize(2)
        .doesNotHaveDuplicates()
        .doesNotContainAnyElementsOf(line.stream().map(Requested::id).toList());
  }

  /** All were made for the capacity of before, when their lines had run out in a pause. */
  @Test
  void waitersThatFitGoOnThoughSeveralOfTheirClaimsMeetAnotherCapacity() {
    QueueKey two = new QueueKey("permits", PASSING, new Mode.Permits(1, 2));
    List<CompletableFuture<Optional<Lease>>> waiting =
        List.of(ask(two, LONG), ask(two, LONG), ask(two, LONG));
    List.copyOf(store.attempts).forEach(attempt -> attempt.answer().complete(WAITING));
    client.pass(LEASE);
    int before = store.attempts.size();
    store.answerRenewals(claim -> Standing.GONE);
    client.pass(Duration.ofMillis(100));
    assertThat(store.attempts.size() - before).isGreaterThan(1);

    List.copyOf(store.attempts.subList(before, store.attempts.size()))
        .forEach(attempt -> attempt.answer().complete(new Standing.OtherKind(Kind.semaphore(3))));
    client.pass(Duration.ofMillis(100));

    assertThat(waiting).noneMatch(CompletableFuture::isDone);
    assertThat(store.attempts.get(store.attempts.size() - 1).claim().mode())
        .isEqualTo(new Mode.Permits(1, 3));
  }

  /** The first that asks: it is asked for anew. */
  private void getsAPlaceAndLosesIt() {
    store.attempt(0).answer().complete(WAITING);
    client.pass(LEASE.dividedBy(3));
    store.answerRenewals(claim -> null);
    client.pass(Duration.ofMillis(100));
  }

  /** It was not mistaken as it came: the place ran out while the store was away. */
  @Test
  void whoHadAPlaceGoesOnThoughItAsksForItAnewAndMeetsAnotherCapacity() {
    QueueKey one = new QueueKey("permits", PASSING, new Mode.Permits(1, 1));
    CompletableFuture<Optional<Lease>> waiting = ask(one, LONG);
    getsAPlaceAndLosesIt();
    assertThat(store.attempts).as("it has asked again").hasSize(2);

    store.attempt(1).answer().complete(new Standing.OtherKind(Kind.semaphore(2)));
    client.pass(Duration.ofMillis(100));

    assertThat(waiting).isNotDone();
    assertThat(store.attempt(2).claim().mode()).isEqualTo(new Mode.Permits(1, 2));
  }

  /** A smaller semaphore has no room for a claim of his: the newcomer's answer is not for him. */
  @Test
  void whoHadAPlaceGoesOnThoughANewcomersClaimMeetsTheSmallerCapacityToo() {
    QueueKey one = new QueueKey("permits", PASSING, new Mode.Permits(1, 2));
    CompletableFuture<Optional<Lease>> waiting = ask(one, LONG);
    getsAPlaceAndLosesIt();
    CompletableFuture<Optional<Lease>> newcomer = ask(one, LONG);
    assertThat(store.attempts).as("both ask").hasSize(3);

    for (ScriptedStore.Attempt asked : List.of(store.attempt(1), store.attempt(2))) {
      asked.answer().complete(new Standing.OtherKind(Kind.semaphore(1)));
      client.pass(Duration.ofMillis(100));
    }

    assertThat(waiting).isNotDone();
    assertThat(newcomer).isCompletedExceptionally();
    assertThat(store.attempt(3).claim().mode()).isEqualTo(new Mode.Permits(1, 1));
  }

  /** He has no claim that could be mistaken: the newcomer's answer is not for him. */
  @Test
  void whoWaitsBehindAHolderGoesOnThoughANewcomerBeforeHimMeetsTheSmallerCapacity() {
    QueueKey one = new QueueKey("permits", PASSING, new Mode.Permits(1, 2));
    CompletableFuture<Optional<Lease>> holder = ask(one, LONG);
    CompletableFuture<Optional<Lease>> newcomer = ask(one, LONG);
    CompletableFuture<Optional<Lease>> behind = ask(one, LONG);
    assertThat(store.attempts).as("no room for another claim").hasSize(2);
    store.attempt(0).answer().complete(held(10));
    client.pass(Duration.ZERO);

    for (int i = 1; i <= 2; i++) {
      store.attempt(i).answer().complete(new Standing.OtherKind(Kind.semaphore(1)));
      client.pass(Duration.ofMillis(1));
    }
    holder.join().orElseThrow().closeAsync();
    client.pass(Duration.ZERO);
    store.attempt(3).answer().complete(held(20));
    client.pass(Duration.ZERO);

    assertThat(newcomer).isCompletedExceptionally();
    assertThat(behind).isCompletedWithValueMatching(Optional::isPresent);
    assertThat(store.attempt(3).claim().mode()).isEqualTo(new Mode.Permits(1, 1));
  }

  /** What is no semaphore any more has no permits for him. */
  @Test
  void whoWaitsBehindAHolderIsToldOnceTheNameIsALocks() {
    QueueKey one = new QueueKey("permits", PASSING, new Mode.Permits(1, 2));
    CompletableFuture<Optional<Lease>> holder = ask(one, LONG);
    store.attempt(0).answer().complete(held(10));
    client.pass(Duration.ZERO);
    List<CompletableFuture<Optional<Lease>>> waiting = List.of(ask(one, LONG), ask(one, LONG));

    for (int i = 1; i <= 2; i++) {
      store.attempt(i).answer().complete(new Standing.OtherKind(Kind.LOCK));
      client.pass(Duration.ofMillis(1));
    }

    assertThat(holder).isCompletedWithValueMatching(Optional::isPresent);
    assertThat(waiting).allMatch(CompletableFuture::isCompletedExceptionally);
    assertThat(store.attempts).hasSize(3);
  }

  /** Nobody stands at the store for one of them, once both have lost their places in a pause. */
  @Test
  void p6_someoneGetsIn_whoFellBehindASmallerCapacityHearsOfALargerOneThatAnotherClientMade() {
    QueueKey two = new QueueKey("permits", PASSING, new Mode.Permits(1, 2));
    CompletableFuture<Optional<Lease>> first = ask(two, LONG);
    CompletableFuture<Optional<Lease>> second = ask(two, LONG);
    List.copyOf(store.attempts).forEach(attempt -> attempt.answer().complete(WAITING));
    client.engine().capacityIs("permits", 1);
    client.pass(LEASE.dividedBy(3));
    store.answerRenewals(claim -> Standing.GONE);
    client.pass(Duration.ofMillis(100));
    assertThat(store.attempts).as("one permit, one claim").hasSize(3);

    store.attempt(2).answer().complete(held(10));
    client.pass(Duration.ofSeconds(2));
    assertThat(first).isDone();
    assertThat(store.attempts).as("it asks beside the holder").hasSize(4);
    store.attempt(3).answer().complete(new Standing.OtherKind(Kind.semaphore(2)));
    client.pass(Duration.ofMillis(100));
    store.attempt(4).answer().complete(held(20));
    client.pass(Duration.ZERO);

    assertThat(second).isDone();
  }

  /**
   * It asks with a capacity that is not the semaphore's any more; who waited before it does not.
   */
  @Test
  void whoComesWithTheFormerCapacityIsToldOfItAndNotWhoWaitsBeforeIt() {
    QueueKey two = new QueueKey("permits", PASSING, new Mode.Permits(1, 2));
    List<CompletableFuture<Optional<Lease>>> holders = List.of(ask(two, LONG), ask(two, LONG));
    store.attempt(0).answer().complete(held(10));
    store.attempt(1).answer().complete(held(20));
    CompletableFuture<Optional<Lease>> waiting = ask(two, LONG);
    client.pass(Duration.ZERO);
    holders.forEach(holder -> holder.join().orElseThrow().closeAsync());
    client.pass(Duration.ofNanos(1));
    CompletableFuture<Optional<Lease>> newcomer = ask(two, LONG);
    assertThat(store.attempts).as("both are on their way").hasSize(4);

    store.attempt(2).answer().complete(new Standing.OtherKind(Kind.semaphore(3)));
    store.attempt(3).answer().complete(new Standing.OtherKind(Kind.semaphore(3)));
    store.attempt(4).answer().complete(held(30));
    client.pass(Duration.ZERO);

    assertThat(waiting).isCompletedWithValueMatching(Optional::isPresent);
    assertThat(newcomer)
        .failsWithin(Duration.ZERO)
        .withThrowableThat()
        .havingCause()
        .isInstanceOf(LockKindException.class);
  }

  static List<LockOptions> unshared() {
    return List.of(STRICT.minHold(Duration.ofSeconds(1)), STRICT.renewal(false));
  }

  @ParameterizedTest
  @MethodSource("unshared")
  void aHoldThatHasToLastOrToEndIsNotSharedWithFollowers(LockOptions options) {
    List<Requested> line = inLine(options, options, options);
    assertThat(store.attempts).extracting(attempt -> attempt.claim().tokens()).containsOnly(1);
    grant(line.get(1), 10, line.get(2));
    assertThat(line.get(1).future).as("it first asks whether it holds").isNotDone();
    store.answerRenewals(claim -> claim.id().equals(line.get(1).id()) ? held(10) : WAITING);
    client.pass(Duration.ZERO);

    line.get(1).close();

    assertThat(line.get(2).future).isNotDone();
  }

  /** The store may have heard from it as from a holder, and keep its shortest hold since. */
  @Test
  void p6_someoneGetsIn_aGrantWhoseConfirmationWasLostOwesNoShortestHoldOnceItIsGone() {
    Requested waiter = inLine(PASSING.minHold(LONG)).get(0);
    grant(waiter, 10);
    store.renewals.get(0).answer().completeExceptionally(ScriptedStore.unavailable());
    client.pass(Duration.ofSeconds(1));

    store.attempt(1).answer().complete(Standing.GONE);
    client.pass(Duration.ZERO);

    assertThat(store.attempt(1).claim().id()).isEqualTo(waiter.id());
    assertThat(withdrawn()).containsExactly(waiter.id());
    assertThat(store.withdrawals.get(0).minHold()).isZero();
  }

  @Test
  void aStrictClaimAsksForATokenForEachFollowerThatItMayHave() {
    inLine(STRICT, STRICT);
    assertThat(store.attempt(1).claim().tokens()).isEqualTo(1 + GrantRule.MAX_FOLLOWERS);
  }

  static List<LockOptions> shared() {
    return List.of(STRICT, PASSING.localPassing(100, Duration.ofSeconds(1)));
  }

  @ParameterizedTest
  @MethodSource("shared")
  void aHoldOfWhichLittleIsLeftIsNotPassedOn(LockOptions options) {
    Requested first = request(options);
    Requested second = request(options);
    if (options.passes()) {
      first.attempt.answer().complete(new Standing.Held(10, 73));
      client.pass(Duration.ZERO);
    } else {
      answerAll(WAITING);
      grant(first, 10, second);
    }
    client.pass(LEASE.multipliedBy(17).dividedBy(20));

    first.close();

    assertThat(second.future).isNotDone();
    assertThat(withdrawn()).endsWith(first.id());
  }

  @Test
  void aHoldWhoseRunIsOverIsNotPassedOn() {
    LockOptions options = PASSING.localPassing(100, Duration.ofMillis(10));
    Requested first = request(options);
    Requested second = request(options);
    first.attempt.answer().complete(new Standing.Held(10, 73));
    client.pass(Duration.ofMillis(10));

    first.close();

    assertThat(second.future).isNotDone();
    assertThat(withdrawn()).containsExactly(first.id());
  }

  @Test
  void aReaderJoinsWithoutATripForAsLongAsARunLasts() {
    DistributedReadWriteLock lock = readWriteLock(PASSING.localPassing(100, Duration.ofMillis(10)));
    Requested first = request(lock.readLock());
    first.attempt.answer().complete(new Standing.Held(10, 73));
    client.pass(Duration.ZERO);
    Requested second = request(lock.readLock());
    client.pass(Duration.ofMillis(10));
    assertThat(second.token()).isEqualTo(11);

    Requested third = request(lock.readLock());

    client.pass(Duration.ZERO);
    assertThat(third.future).isNotDone();
    assertThat(store.attempts).hasSize(2);
  }

  @Test
  void aReaderDoesNotJoinWhileAWriterOfItsClientWaits() {
    DistributedReadWriteLock lock = readWriteLock(PASSING);
    Requested first = request(lock.readLock());
    first.attempt.answer().complete(new Standing.Held(10, 73));
    client.pass(Duration.ZERO);
    request(lock.writeLock());

    Requested second = request(lock.readLock());

    client.pass(Duration.ZERO);
    assertThat(second.future).isNotDone();
    assertThat(store.attempts).as("each asks for itself").hasSize(3);
  }

  @Test
  void writersPassALockOnForNoMoreThanASliceWhileAReaderOfTheirClientWaits() {
    DistributedReadWriteLock lock = readWriteLock(PASSING.localPassing(100, Duration.ofSeconds(1)));
    List<Requested> writers =
        List.of(request(lock.writeLock()), request(lock.writeLock()), request(lock.writeLock()));
    writers.get(0).attempt.answer().complete(new Standing.Held(10, 73));
    client.pass(Duration.ZERO);
    request(lock.readLock());

    writers.get(0).close();
    assertThat(writers.get(1).token()).isEqualTo(11);
    client.pass(SLICE);
    writers.get(1).close();

    assertThat(writers.get(2).future).isNotDone();
    assertThat(withdrawn()).containsExactly(writers.get(0).id());
  }

  /** Two permits, of which the second may be passed on for a while longer than the first. */
  private List<CompletableFuture<Optional<Lease>>> twoPermits() {
    CompletableFuture<Optional<Lease>> first = ask(TWO_FOR_SHORT, LONG);
    store.attempt(0).answer().complete(new Standing.Held(10, 20));
    client.pass(SHORT_RUN.dividedBy(2));
    CompletableFuture<Optional<Lease>> second = ask(TWO_FOR_SHORT, LONG);
    store.attempt(1).answer().complete(new Standing.Held(30, 40));
    client.pass(Duration.ZERO);
    return List.of(first, second);
  }

  private DistributedReadWriteLock readWriteLock(LockOptions options) {
    return new DistributedReadWriteLock(client.engine(), "lock", options, new ReentrantHolds());
  }

  private Requested request(LockOptions options) {
    return request(new DistributedLock(client.engine(), "lock", options));
  }

  private Requested request(DistributedLock lock) {
    int asked = store.attempts.size();
    CompletableFuture<Optional<Lease>> future = lock.tryAcquireAsync(LONG);
    return new Requested(
        future, store.attempts.size() > asked ? store.attempt(asked) : store.attempt(asked - 1));
  }

  private List<Requested> inLine(LockOptions... options) {
    List<Requested> line = Arrays.stream(options).map(this::request).toList();
    answerAll(WAITING);
    return line;
  }

  private void answerAll(Standing standing) {
    store.attempts.forEach(attempt -> attempt.answer().complete(standing));
    client.pass(Duration.ZERO);
  }

  private void grant(Requested to, long token, Requested... followers) {
    List<ClaimId> ids = Arrays.stream(followers).map(Requested::id).toList();
    to.attempt.bell().ring(new Standing.Held(token, token + 63, ids));
    client.pass(Duration.ZERO);
  }

  private List<ClaimId> withdrawn() {
    return store.withdrawals.stream().map(Claim::id).toList();
  }

  /** A request, and the attempt that was made for it, or of whoever stands before it. */
  private final class Requested {
    private final CompletableFuture<Optional<Lease>> future;
    private final ScriptedStore.Attempt attempt;

    Requested(CompletableFuture<Optional<Lease>> future, ScriptedStore.Attempt attempt) {
      this.future = future;
      this.attempt = attempt;
    }

    ClaimId id() {
      return attempt.claim().id();
    }

    long token() {
      assertThat(future).isDone();
      return future.join().orElseThrow().token();
    }

    void close() {
      future.join().orElseThrow().closeAsync();
      client.pass(Duration.ZERO);
    }
  }
}
