package io.pawl;

import static io.pawl.ScriptedStore.WAITING;
import static io.pawl.ScriptedStore.held;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.pawl.concurrent.SystemTime;
import io.pawl.concurrent.Workers;
import io.pawl.engine.Asker;
import io.pawl.engine.Engine;
import io.pawl.engine.GroupAcquisition;
import io.pawl.engine.GroupLoan;
import io.pawl.engine.Loan;
import io.pawl.engine.Losses;
import io.pawl.engine.QueueKey;
import io.pawl.engine.Requests;
import io.pawl.error.LeaseLostException;
import io.pawl.memory.MemoryStore;
import io.pawl.options.LockObserver;
import io.pawl.options.LockOptions;
import io.pawl.options.PawlOptions;
import io.pawl.spi.Claim;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Answers, losses and changes of mind of a group in the orders in which they can come. */
class GroupTest {

  private static final Duration LEASE = Duration.ofSeconds(3);
  private static final LockOptions OPTIONS = LockOptions.defaults().lease(LEASE);

  /** Runs callbacks at once, unless the test puts them off. */
  private Executor callbacks = Runnable::run;

  private final ScriptedClient client =
      new ScriptedClient(PawlOptions.defaults(), task -> callbacks.execute(task));
  private final ScriptedStore store = client.store();
  private final AtomicInteger losses = new AtomicInteger();
  private LockOptions options = OPTIONS;

  private GroupAcquisition start(String... names) {
    return start(Duration.ofDays(1), names);
  }

  private GroupAcquisition start(Duration wait, String... names) {
    GroupAcquisition group = group(wait, names);
    group.start(false);
    return group;
  }

  private GroupAcquisition group(Duration wait, String... names) {
    List<Requests> locks =
        Stream.of(names)
            .map(name -> new QueueKey(name, options, Mode.EXCLUSIVE))
            .map(key -> new Requests(client.engine(), key))
            .toList();
    return new GroupAcquisition(client.engine(), locks, new Asker("thread", ""), wait.toNanos());
  }

  private GroupLease granted(String... names) {
    CompletableFuture<Optional<GroupLoan>> outcome = start(names).outcome();
    store.attempts.forEach(attempt -> attempt.answer().complete(held(1)));
    client.pass(Duration.ZERO);
    GroupLease lease = new GroupLease(outcome.join().orElseThrow());
    lease.onLost(losses::incrementAndGet);
    return lease;
  }

  /** The first is held, the second is waited for. */
  private GroupAcquisition waiting() {
    GroupAcquisition group = start("a", "b");
    store.attempt(0).answer().complete(held(1));
    store.attempt(1).answer().complete(Standing.GONE);
    client.pass(Duration.ZERO);
    store.attempt(2).answer().complete(WAITING);
    client.pass(Duration.ZERO);
    return group;
  }

  /** It ends on the timer, on which nothing is renewed and no loss is told while it does I/O. */
  @Test
  void aGroupWhoseTimeIsOverDoesNotLendItsThreadToTheStore() {
    GroupAcquisition group = start(Duration.ofSeconds(2), "a", "b");
    store.attempt(0).answer().complete(held(1));
    store.attempt(1).answer().complete(Standing.GONE);
    client.pass(Duration.ZERO);
    store.attempt(2).answer().complete(WAITING);

    client.pass(Duration.ofSeconds(3));

    assertThat(group.outcome().join()).isEmpty();
    assertThat(withdrawn()).contains("a", "b");
    assertThat(store.offers).isZero();
  }

  /** What it was granted it has not looked at yet. */
  @Test
  void aGroupThatIsGivenUpWhileItAsksSaysSoWhenAllIsGivenBack() {
    GroupAcquisition group = group(Duration.ofDays(1), "a", "b");
    store.answers.add(CompletableFuture.completedFuture(held(1)));
    store.asked =
        claim -> {
          if (claim.lock().equals("b")) {
            group.abandon();
            store.withdrawal = new CompletableFuture<>();
          }
        };
    group.start(false);
    client.pass(Duration.ZERO);
    assertThat(store.withdrawals).extracting(Claim::lock).contains("a");
    assertThat(group.outcome()).as("a is on its way back").isNotDone();
    store.withdrawal.complete(null);
    client.pass(Duration.ZERO);
    assertThat(group.outcome()).isDone();
  }

  /**
   * Else it would hold {@code b} while it waits for {@code a}, and whoever has {@code a} may wait
   * for {@code b}.
   */
  @Test
  void aGroupWhoseGrantCameTooLateDoesNotWaitForItBesideWhatItHolds() {
    start("a", "b");
    new Requests(client.engine(), new QueueKey("a", OPTIONS, Mode.EXCLUSIVE))
        .tryAcquireAsync(Duration.ofDays(1), Function.identity());
    client.freeze(LEASE.multipliedBy(2));
    store.attempt(0).answer().complete(held(1));
    client.pass(Duration.ofSeconds(1));
    store.attempt(1).answer().complete(held(1));
    client.pass(Duration.ofSeconds(1));
    assertThat(store.attempts)
        .extracting(asked -> asked.claim().lock())
        .containsExactly("a", "b", "a", "b");
    assertThat(store.attempt(2).claim().queues()).isTrue();
    store.withdrawals.clear();
    store.attempt(3).answer().complete(held(2));
    store.attempt(2).answer().complete(WAITING);
    client.pass(Duration.ofMillis(100));
    assertThat(store.withdrawals).extracting(Claim::lock).containsExactly("b");
  }

  /** What took one lock from it may well keep the others from being given back. */
  @Test
  void p5_lossIsTold_byTheFutureOfACloseThoughTheStoreCannotBeToldOfTheOtherLocks() {
    GroupLease lease = granted("a", "b");
    client.pass(LEASE.dividedBy(2));
    store.answerRenewals(claim -> claim.lock().equals("a") ? Standing.GONE : held(1));
    client.pass(Duration.ZERO);
    store.failingWithdrawals = Integer.MAX_VALUE;
    CompletableFuture<Void> closed = lease.closeAsync();
    client.pass(LEASE.multipliedBy(2));
    assertThat(closed)
        .failsWithin(Duration.ZERO)
        .withThrowableThat()
        .withCauseInstanceOf(LeaseLostException.class);
  }

  /** The client's end may come between the end of the lease and its being told to the store. */
  @Test
  void aCloseIsAnsweredThoughTheClientHasEnded() throws Exception {
    ScriptedStore blocking = new ScriptedStore();
    blocking.blocks = true;
    blocking.answers.add(CompletableFuture.completedFuture(held(1)));
    blocking.answers.add(CompletableFuture.completedFuture(held(1)));
    try (SystemTime time = new SystemTime("timer")) {
      Workers workers = Workers.pools("workers", null, time);
      Engine engine =
          new Engine(blocking, PawlOptions.defaults(), time, workers, new Random(1), "client");
      GroupLease lease = new LockGroup(engine, List.of("a", "b"), OPTIONS).acquire();
      workers.shutdown();

      lease.closeAsync().get(20, TimeUnit.SECONDS);

      assertThat(blocking.withdrawals).hasSize(2);
    }
  }

  /** At the next renewal the store no longer knows these locks. */
  private void lose(String... names) {
    client.pass(LEASE.dividedBy(3));
    store.answerRenewals(
        claim ->
            List.of(names).contains(claim.lock())
                ? Standing.GONE
                : claim.queues() ? WAITING : held(1));
    client.pass(Duration.ZERO);
  }

  private List<String> withdrawn() {
    return store.withdrawals.stream().map(Claim::lock).toList();
  }

  @Test
  void aGroupOfWhichOneLockWasLostMeanwhileIsNotHandedOut() {
    GroupAcquisition group = waiting();
    lose("a");
    store.attempt(2).bell().ring(held(5));
    client.pass(Duration.ZERO);

    assertThat(group.outcome()).isNotDone();
    assertThat(store.attempts).extracting(attempt -> attempt.claim().lock()).endsWith("a", "b");
    store.attempt(3).answer().complete(held(6));
    store.attempt(4).answer().complete(held(7));
    client.pass(Duration.ZERO);
    assertThat(group.outcome().join().orElseThrow().tokens())
        .containsEntry("a", 6L)
        .containsEntry("b", 7L);
  }

  @Test
  void aGroupIsValidForAsLongAsAllOfItsLocksAreAndToldOfTheFirstLossAlone() {
    GroupLease lease = granted("a", "b", "c");
    lose("b");
    assertThat(lease.isValid()).isFalse();
    assertThat(losses).hasValue(1);
    assertThat(lease.loan().loans()).extracting(Loan::isValid).containsExactly(true, false, true);

    lose("c");

    assertThat(losses).hasValue(1);
    assertThat(withdrawn()).as("held until it is closed").doesNotContain("a");
  }

  @Test
  void aLossThatTheCloseIsTheFirstToFindIsTold() {
    GroupLease lease = granted("a", "b");
    client.freeze(LEASE);

    assertThat(lease.closeAsync()).isCompletedExceptionally();

    assertThat(losses).hasValue(1);
  }

  /** One thread tells of a loss, and another finds a second one. */
  @Test
  void whoFindsAGroupLostIsAnsweredWhenItsHolderHasBeenTold() {
    GroupLease group = granted("a", "b");
    CountDownLatch telling = new CountDownLatch(1);
    CompletableFuture<Thread> asking = new CompletableFuture<>();
    List<String> order = new CopyOnWriteArrayList<>();
    group.onLost(
        () -> {
          telling.countDown();
          Thread thread = asking.join();
          Awaitility.await()
              .until(() -> thread.getState() == Thread.State.TIMED_WAITING || !order.isEmpty());
          order.add("told");
        });
    Rounds.together(
        2,
        number -> {
          if (number == 0) {
            Losses.lose(group.loan().loans().get(1), "first");
          } else {
            telling.await();
            Losses.lose(group.loan().loans().get(0), "second");
            asking.complete(Thread.currentThread());
            order.add(group.isValid() ? "valid" : "lost");
          }
        });
    assertThat(order).containsExactly("told", "lost");
  }

  @Test
  void aLockOfALostGroupIsGivenBackWhenItsHolderHasBeenTold() {
    GroupLease group = granted("a", "b");
    Queue<Runnable> waiting = new ArrayDeque<>();
    callbacks = waiting::add;
    Losses.loseHold(group.loan().loans().get(0), "on purpose");
    assertThat(withdrawn()).isEmpty();

    waiting.forEach(Runnable::run);

    assertThat(losses).hasValue(1);
    assertThat(withdrawn()).containsExactly("a");
  }

  @Test
  void theHolderOfAGroupIsToldOfALossThoughACallbackHasClosed() {
    GroupLease group = granted("a", "b");
    List<Throwable> thrown = new ArrayList<>();
    group.onLost(() -> thrown.add(catchThrowable(group::close)));
    lose("a");
    assertThat(thrown).singleElement().isNull();
    assertThat(withdrawn()).contains("b");

    assertThatThrownBy(group::close)
        .isInstanceOf(LeaseLostException.class)
        .hasMessageContaining("'a'");

    group.close();
  }

  @Test
  void withoutAWaitOnlyWhoHasTheFirstNameAsksForTheOthers() {
    GroupAcquisition group = start(Duration.ZERO, "a", "b", "c");
    assertThat(asked()).containsExactly("a");
    store.attempt(0).answer().complete(held(1));
    client.pass(Duration.ZERO);
    assertThat(asked()).containsExactly("a", "b", "c");

    store.attempts.forEach(attempt -> attempt.answer().complete(held(1)));
    client.pass(Duration.ZERO);

    assertThat(group.outcome().join()).isPresent();
  }

  private List<String> asked() {
    return store.attempts.stream().map(attempt -> attempt.claim().lock()).toList();
  }

  @Test
  void aRefusedGroupAnswersWhenTheStoreKnowsWhatItGivesBack() {
    store.withdrawal = new CompletableFuture<>();
    GroupAcquisition group = start(Duration.ZERO, "a", "b");
    store.attempt(0).answer().complete(held(1));
    client.pass(Duration.ZERO);
    store.attempt(1).answer().complete(Standing.GONE);
    client.pass(Duration.ZERO);
    assertThat(withdrawn()).containsExactly("a");
    assertThat(group.outcome()).isNotDone();

    store.withdrawal.complete(null);

    assertThat(group.outcome().join()).isEmpty();
  }

  @Test
  void aRefusedGroupAwaitsAStoreThatIsSilentNoLongerThanHalfASecond() {
    store.withdrawal = new CompletableFuture<>();
    GroupAcquisition group = waiting();
    group.abandon();
    client.pass(Duration.ofNanos(client.engine().graceNanos() - 1));
    assertThat(group.outcome()).isNotDone();

    client.pass(Duration.ofNanos(1));

    assertThat(group.outcome().join()).isEmpty();
  }

  @Test
  void aGroupOfManyBusyLocksNestsNoRoundInAnother() {
    MemoryStore memory = new MemoryStore();
    try (Pawl here = Pawl.over(memory);
        Pawl there = Pawl.over(memory)) {
      List<String> names = IntStream.range(0, 256).mapToObj(n -> "n" + (1000 + n)).toList();
      List<Lease> busy = names.stream().map(n -> there.lock(n).tryAcquire().orElseThrow()).toList();
      AtomicInteger deepest = new AtomicInteger();
      LockObserver depth =
          new LockObserver() {
            @Override
            public void acquired(String lock, long token, Duration waited, boolean passed) {
              deepest.accumulateAndGet(new Throwable().getStackTrace().length, Math::max);
            }
          };
      try (Pawl observed = Pawl.over(memory, PawlOptions.defaults().observer(depth))) {
        CompletableFuture<Optional<GroupLease>> all =
            observed.lockAll(names).tryAcquireAsync(Duration.ofMinutes(1));
        busy.forEach(Lease::close);
        assertThat(all.join()).isPresent();
        all.join().orElseThrow().close();
        here.lock("n1000").tryAcquire().orElseThrow().close();
      }
      assertThat(deepest).hasValueLessThan(200);
    }
  }

  @Test
  void aSilentStoreEndsTheWaitOfAGroupShortlyAfterItsTime() {
    GroupAcquisition group = start(Duration.ofSeconds(1), "a", "b");
    client.pass(Duration.ofSeconds(1).plusNanos(client.engine().graceNanos()));
    assertThat(group.outcome()).isCompletedExceptionally();

    store.attempts.forEach(attempt -> attempt.answer().complete(held(1)));
    client.pass(Duration.ZERO);

    assertThat(withdrawn()).containsExactlyInAnyOrder("a", "b");
  }

  @Test
  void whatRemainsOfAGroupIsWhatRemainsOfTheLockThatEndsFirst() {
    GroupAcquisition group = waiting();
    client.pass(LEASE.dividedBy(3));
    Claim second = store.attempt(2).claim();
    store.renewals.forEach(renewal -> renewal.answer().complete(Map.of(second.id(), held(5))));
    client.pass(Duration.ZERO);

    GroupLease lease = new GroupLease(group.outcome().join().orElseThrow());

    long ofFirst = lease.loan().loans().get(0).remainingNanos();
    assertThat(ofFirst).isPositive().isLessThan(lease.loan().loans().get(1).remainingNanos());
    assertThat(lease.remaining()).isEqualTo(Duration.ofNanos(ofFirst));
  }

  @Test
  void whoGivesUpWaitingLeavesTheLineAndGivesBackWhatIsHeld() {
    GroupAcquisition group = waiting();

    group.abandon();
    client.pass(Duration.ZERO);

    assertThat(group.outcome().join()).isEmpty();
    assertThat(withdrawn()).containsExactlyInAnyOrder("a", "b");
    assertThat(client.engine().isIdle()).isTrue();
  }

  @Test
  void aLockThatIsLostWhileItsGroupWaitsForAnotherOwesNoShortestHold() {
    options = OPTIONS.renewal(false).minHold(Duration.ofMinutes(1));
    waiting();

    client.pass(LEASE);

    assertThat(store.withdrawals)
        .filteredOn(claim -> claim.lock().equals("a"))
        .extracting(Claim::minHold)
        .containsExactly(Duration.ZERO);
  }

  @Test
  void aGroupThatWasHandedOutOwesItsShortestHold() {
    options = OPTIONS.minHold(Duration.ofMinutes(1));
    granted("a", "b").closeAsync();
    client.pass(Duration.ZERO);

    assertThat(store.withdrawals).extracting(Claim::minHold).containsOnly(options.minHold());
  }

  @Test
  void aGroupThatWasGrantedJustBeforeItWasGivenUpIsGivenBack() {
    GroupAcquisition group = start("a", "b");
    store.attempts.forEach(attempt -> attempt.answer().complete(held(1)));
    client.pass(Duration.ZERO);

    group.abandon();
    client.pass(Duration.ZERO);

    assertThat(withdrawn()).containsExactlyInAnyOrder("a", "b");
    assertThat(client.engine().isIdle()).isTrue();
  }
}
