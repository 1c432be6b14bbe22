package io.pawl.tck.counter;

import static io.pawl.tck.rig.Bench.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.pawl.Counter;
import io.pawl.Pawl;
import io.pawl.counter.Change;
import io.pawl.counter.OperationId;
import io.pawl.counter.Outcome.Status;
import io.pawl.counter.OutcomeUnknownException;
import io.pawl.error.StoreDeniedException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.options.PawlOptions;
import io.pawl.tck.rig.Bench;
import io.pawl.tck.rig.Bench.Running;
import io.pawl.tck.rig.FaultyStore.Fault;
import io.pawl.tck.rig.FaultyStore.Verb;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Requests and replies that get lost or come late. */
public abstract class LostChangeCases extends CounterCases {

  private static final PawlOptions IMPATIENT = PawlOptions.defaults().patience(Duration.ZERO);

  protected LostChangeCases(Bench bench) {
    super(bench);
  }

  private Counter impatient(Counter counter) {
    return bench.over(network, IMPATIENT).counter(counter.name());
  }

  @Test
  void p7_conservation_aTakeWhoseRepliesWereLostIsAppliedOnce() {
    Counter counter = counter("replies", 10);
    network.next(Verb.APPLY, Fault.LOSE_REPLY, Fault.LOSE_REQUEST, Fault.LOSE_REPLY);

    assertThat(counter.tryTake(3)).isEqualTo(new Change.Applied(7));

    assertThat(network.lostReplies()).hasSize(2);
    assertThat(network.lostReplies().get(0)).isEqualTo(network.lostReplies().get(1));
    assertThat(elsewhere(counter).get()).isEqualTo(7);
    assertConserved(counter);
  }

  @Test
  void p7_conservation_anIdTriedTenTimesOverLostRepliesIsAppliedOnce() {
    Counter counter = counter("ten", 10);
    Counter impatient = impatient(counter);
    for (int i = 0; i < 10; i++) {
      network.next(Verb.APPLY, Fault.LOSE_REPLY);
      assertThatThrownBy(() -> impatient.tryTake(3, OperationId.of("order")))
          .isInstanceOf(OutcomeUnknownException.class);
    }
    assertThat(network.lostReplies()).hasSize(10);
    assertThat(network.lostReplies()).containsOnly(network.lostReplies().get(0));
    assertThat(impatient.tryTake(3, OperationId.of("order"))).isEqualTo(new Change.Applied(7));
    assertThat(counter.get()).isEqualTo(7);
    assertConserved(counter);
  }

  @Test
  void anUnknownOutcomeNamesTheIdThatTells() {
    Counter counter = counter("unknown", 10);
    network.next(Verb.APPLY, Fault.LOSE_REPLY);
    Counter impatient = impatient(counter);

    OutcomeUnknownException applied =
        catchThrowableOfType(OutcomeUnknownException.class, () -> impatient.tryTake(3));
    assertThat(applied).hasMessageContaining(counter.name()).hasMessageContaining("outcome(");
    assertThat(elsewhere(counter).outcome(applied.id()).status()).isEqualTo(Status.APPLIED);

    network.next(Verb.APPLY, Fault.LOSE_REQUEST);
    OutcomeUnknownException lost =
        catchThrowableOfType(OutcomeUnknownException.class, () -> impatient.tryTake(3));
    assertThat(elsewhere(counter).outcome(lost.id()).status()).isEqualTo(Status.NEVER);
    assertThat(counter.get()).isEqualTo(7);
  }

  /** "Too old" says that nothing was changed, and the first copy was applied. */
  @Test
  void p7_conservation_aChangeThatIsForgottenBeforeItsRepetitionArrivesIsUnknown()
      throws Exception {
    Counter counter = counter("forgotten", 10);
    Instant now = Instant.now();
    network.next(Verb.APPLY, Fault.LOSE_REPLY, Fault.HOLD_REQUEST);
    CompletableFuture<Change> take =
        counter.async().tryTake(3, OperationId.of("order", now.minus(Duration.ofDays(2))));
    eventually(() -> network.calls(Verb.APPLY) == 3);
    assertThat(elsewhere(counter).ledger().prune(now.minus(Duration.ofDays(1)))).isEqualTo(1);

    network.resume();

    assertThatThrownBy(() -> take.get(20, TimeUnit.SECONDS))
        .cause()
        .isInstanceOf(OutcomeUnknownException.class);
    assertThat(counter.get()).isEqualTo(7);
    assertConserved(counter);
  }

  @Test
  void anUnknownOutcomeIsKnownEvenAfterOldOperationsWereForgotten() {
    Counter counter = counter("pruned", 10);
    counter.ledger().prune(Instant.now().minus(Duration.ofDays(1)));
    network.next(Verb.APPLY, Fault.LOSE_REQUEST);
    Counter impatient = impatient(counter);

    OutcomeUnknownException lost =
        catchThrowableOfType(
            OutcomeUnknownException.class, () -> impatient.tryTake(3, OperationId.of("order")));

    assertThat(counter.outcome(lost.id()).status()).isEqualTo(Status.NEVER);
  }

  @Test
  void p7_conservation_aChangeThatArrivesAfterItsOutcomeWasToldIsRefused() throws Exception {
    Counter counter = counter("late", 10);
    network.next(Verb.APPLY, Fault.HOLD_REQUEST);
    CompletableFuture<Change> late = counter.async().tryTake(3, OperationId.of("order"));
    eventually(() -> network.calls(Verb.APPLY) == 2);
    assertThat(elsewhere(counter).outcome(OperationId.of("order")).status())
        .isEqualTo(Status.NEVER);

    network.resume();

    assertThatThrownBy(() -> late.get(20, TimeUnit.SECONDS))
        .isInstanceOf(ExecutionException.class)
        .hasMessageContaining("order");
    assertThat(counter.get()).isEqualTo(10);
  }

  @Test
  void p7_conservation_aRefusalAfterALostRequestStands() throws Exception {
    Counter counter = counter("delayed", 1);
    CompletableFuture<Change> first;
    network.next(Verb.APPLY, Fault.HOLD_REQUEST);
    first = counter.async().tryTake(2, OperationId.of("order"));
    eventually(() -> network.calls(Verb.APPLY) == 2);
    assertThat(elsewhere(counter).tryTake(2, OperationId.of("order")))
        .isEqualTo(new Change.Refused(1));
    counter.add(5);

    network.resume();

    assertThat(first.get(20, TimeUnit.SECONDS)).isEqualTo(new Change.Refused(1));
    assertThat(counter.get()).isEqualTo(6);
  }

  @Test
  void aReservationWhoseReplyWasLostIsMadeOnceAndConfirmedOnce() {
    Counter counter = counter("reserve", 10);
    network.next(Verb.APPLY, Fault.LOSE_REPLY);
    assertThat(counter.reserve(3, LONG, OperationId.of("a")).value()).isEqualTo(7);
    network.next(Verb.APPLY, Fault.LOSE_REPLY, Fault.LOSE_REPLY);
    assertThat(counter.confirm(OperationId.of("a"))).isTrue();
    network.next(Verb.APPLY, Fault.LOSE_REPLY);
    assertThat(counter.reserve(3, LONG, OperationId.of("b")).value()).isEqualTo(4);
    network.next(Verb.APPLY, Fault.LOSE_REPLY);
    assertThat(counter.cancel(OperationId.of("b"))).isTrue();

    assertThat(counter.get()).isEqualTo(7);
    assertConserved(counter);
  }

  @Test
  void aBasketWhoseReplyWasLostIsTakenOnce() {
    Counter a = counter("a", 5);
    Counter b = counter("b", 5);
    network.next(Verb.APPLY, Fault.LOSE_REPLY);

    assertThat(
            here.tryTakeAll(Map.of(a.name(), 1L, b.name(), 1L), OperationId.random()).isApplied())
        .isTrue();

    assertThat(a.get()).isEqualTo(4);
    assertThat(b.get()).isEqualTo(4);
  }

  @Test
  void aReadIsRepeatedAndFailsAsWhatItIs() {
    Counter counter = counter("read", 10);
    network.next(Verb.READ, Fault.LOSE_REPLY, Fault.LOSE_REQUEST);
    assertThat(counter.get()).isEqualTo(10);

    network.next(Verb.READ, Fault.LOSE_REPLY);
    Counter impatient = impatient(counter);
    assertThatThrownBy(impatient::get).isInstanceOf(StoreUnavailableException.class);
  }

  @Test
  void aDenialIsFinalUnlessAnEarlierTryMayHaveBeenApplied() {
    Counter counter = counter("denied", 10);
    network.next(Verb.APPLY, Fault.DENY);
    assertThatThrownBy(() -> counter.tryTake(1)).isInstanceOf(StoreDeniedException.class);

    network.next(Verb.APPLY, Fault.LOSE_REPLY, Fault.DENY);
    assertThatThrownBy(() -> counter.tryTake(1))
        .isInstanceOf(OutcomeUnknownException.class)
        .hasCauseInstanceOf(StoreDeniedException.class);
    assertThat(counter.get()).isEqualTo(9);
  }

  @Test
  void aStoreThatThrowsLeavesTheOutcomeUnknown() {
    Counter counter = counter("throws", 10);
    network.next(Verb.APPLY, Fault.THROW);

    assertThatThrownBy(() -> counter.tryTake(1)).isInstanceOf(OutcomeUnknownException.class);
  }

  @Test
  void anInterruptIsKeptForLater() throws Exception {
    Counter counter = counter("interrupt", 10);
    Running<Boolean> taking =
        bench.start(
            () -> {
              Thread.currentThread().interrupt();
              return counter.tryTake(1).isApplied() && Thread.currentThread().isInterrupted();
            });
    assertThat(taking.result()).isTrue();
  }

  @Test
  void closingAClientAnswersWhatIsUnderWay() {
    Counter counter = counter("closing", 10);
    Pawl closing = bench.over(network);
    network.on(Verb.APPLY, Fault.LOSE_REPLY);
    int before = network.calls(Verb.APPLY);
    CompletableFuture<Change> take =
        closing.counter(counter.name()).async().tryTake(1, OperationId.of("order"));
    eventually(() -> network.calls(Verb.APPLY) > before);

    closing.close();

    assertThatThrownBy(() -> take.get(20, TimeUnit.SECONDS))
        .isInstanceOf(ExecutionException.class)
        .hasCauseInstanceOf(OutcomeUnknownException.class);
    assertThatThrownBy(() -> closing.counter(counter.name()).tryTake(1))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("closed");
    network.heal();
    assertThat(counter.outcome(OperationId.of("order")).status()).isEqualTo(Status.APPLIED);
  }
}
