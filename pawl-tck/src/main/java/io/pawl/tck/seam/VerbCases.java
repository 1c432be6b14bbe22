package io.pawl.tck.seam;

import static io.pawl.tck.rig.SeamClient.held;
import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import io.pawl.tck.rig.Bench;
import io.pawl.tck.rig.SeamClient;
import io.pawl.tck.rig.SeamClient.Hold;
import io.pawl.tck.rig.SeamClient.RecordingBell;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Attempt, renew and withdraw, while everybody lives. */
public abstract class VerbCases extends SeamCases {

  protected VerbCases(Bench bench) {
    super(bench);
  }

  @Test
  void attemptTakesAFreeLock() {
    Hold hold = here.take(bench.lock("free"));

    assertThat(here.renew(hold.claim())).isEqualTo(hold.tokens());
  }

  @Test
  void attemptRepeatedIsAnsweredTheSameToken() {
    Hold hold = here.take(bench.lock("repeated"));

    assertThat(here.attempt(hold.claim())).isEqualTo(hold.tokens());
    assertThat(here.attempt(hold.claim())).isEqualTo(hold.tokens());
  }

  @Test
  void attemptRepeatedKeepsItsPlaceInLine() {
    String lock = bench.lock("place");
    Hold hold = here.take(lock);
    Claim second = there.ask(lock).stand();
    Claim third = here.ask(lock).stand();

    assertThat(here.attempt(third)).isInstanceOf(Standing.Waiting.class);
    assertThat(there.attempt(second)).isInstanceOf(Standing.Waiting.class);
    here.withdraw(hold);

    assertThat(there.renew(second)).isInstanceOf(Standing.Held.class);
    assertThat(here.renew(third)).isInstanceOf(Standing.Waiting.class);
    there.withdraw(second);
    assertThat(here.renew(third)).isInstanceOf(Standing.Held.class);
    here.withdraw(third);
    assertThat(here.findsFree(lock)).isTrue();
  }

  @Test
  void aBusyLockGivesAPlaceInLine() {
    String lock = bench.lock("busy");
    here.take(lock);
    Claim waiter = there.ask(lock).claim();

    assertThat(there.attempt(waiter)).isInstanceOf(Standing.Waiting.class);
    assertThat(there.renew(waiter)).isInstanceOf(Standing.Waiting.class);
  }

  @Test
  void aWaiterIsToldToAskAgainBeforeTheHolderCanHaveRunOutUnnoticed() {
    String lock = bench.lock("askAgain");
    Duration lease = Duration.ofSeconds(30);
    here.ask(lock).lease(lease).take();

    Standing standing = there.attempt(there.ask(lock).claim());

    assertThat(standing).isInstanceOf(Standing.Waiting.class);
    assertThat(((Standing.Waiting) standing).askAgain())
        .isBetween(Duration.ZERO, lease.plusMillis(1));
  }

  @Test
  void aClaimThatDoesNotQueueIsGone() {
    String lock = bench.lock("noQueue");
    Hold hold = here.take(lock);
    Claim impatient = there.ask(lock).withoutQueueing().claim();

    assertThat(there.attempt(impatient)).isEqualTo(Standing.GONE);
    here.withdraw(hold);
    assertThat(there.renew(impatient)).isEqualTo(Standing.GONE);
    assertThat(here.findsFree(lock)).isTrue();
  }

  @Test
  void aClaimThatDoesNotQueueTakesAFreeLock() {
    String lock = bench.lock("noQueueFree");

    here.ask(lock).withoutQueueing().take();
  }

  @Test
  void withdrawFreesTheLock() {
    String lock = bench.lock("withdraw");
    Hold hold = here.take(lock);

    here.withdraw(hold);

    assertThat(here.renew(hold.claim())).isEqualTo(Standing.GONE);
    assertThat(there.findsFree(lock)).isTrue();
  }

  @Test
  void withdrawGrantsToTheNextAndRingsItsBell() {
    String lock = bench.lock("bell");
    Hold hold = here.take(lock);
    RecordingBell bell = new RecordingBell();
    Claim next = there.ask(lock).claim();
    there.attempt(next, bell);
    assertThat(bell.hasRungHeld()).isFalse();

    here.withdraw(hold);

    Bench.eventually(bell::hasRungHeld);
    assertThat(bell.rings()).contains(there.renew(next));
  }

  @Test
  void aBellRingsForTheNextInLineOnly() {
    String lock = bench.lock("oneBell");
    Hold hold = here.take(lock);
    RecordingBell nextBell = new RecordingBell();
    RecordingBell laterBell = new RecordingBell();
    there.attempt(there.ask(lock).claim(), nextBell);
    Claim later = there.ask(lock).claim();
    there.attempt(later, laterBell);

    here.withdraw(hold);

    Bench.eventually(nextBell::hasRungHeld);
    assertThat(there.renew(later)).isInstanceOf(Standing.Waiting.class);
    assertThat(laterBell.hasRungHeld()).isFalse();
  }

  @Test
  void withdrawIsIdempotentAndFinal() {
    String lock = bench.lock("final");
    Hold hold = here.take(lock);
    here.withdraw(hold);
    Hold next = there.take(lock);

    here.withdraw(hold);
    here.withdraw(hold.claim().asUnsettled());

    assertThat(here.renew(hold.claim())).isEqualTo(Standing.GONE);
    assertThat(there.renew(next.claim())).isEqualTo(next.tokens());
    assertThat(here.findsFree(lock)).isFalse();
  }

  @Test
  void withdrawOfAClaimNeverHeardOfIsNoError() {
    String lock = bench.lock("unknown");
    Hold hold = here.take(lock);

    there.withdraw(there.ask(lock).claim());
    there.withdraw(there.ask(bench.lock("unknownToo")).claim());

    assertThat(here.renew(hold.claim())).isEqualTo(hold.tokens());
  }

  @Test
  void withdrawTakesAWaiterOutOfLine() {
    String lock = bench.lock("leaves");
    Hold hold = here.take(lock);
    Claim leaving = there.ask(lock).stand();
    Claim staying = there.ask(lock).stand();

    there.withdraw(leaving);
    here.withdraw(hold);

    assertThat(there.renew(leaving)).isEqualTo(Standing.GONE);
    assertThat(there.renew(staying)).isInstanceOf(Standing.Held.class);
  }

  @Test
  void aLateAttemptAfterAnUnsettledWithdrawIsGone() {
    String lock = bench.lock("late");
    Claim neverArrived = here.ask(lock).claim();
    Claim arrived = here.ask(lock).claim();

    here.withdraw(neverArrived.asUnsettled());
    here.attempt(arrived);
    here.withdraw(arrived.asUnsettled());

    assertThat(here.attempt(neverArrived)).isEqualTo(Standing.GONE);
    assertThat(here.attempt(arrived)).isEqualTo(Standing.GONE);
    assertThat(there.findsFree(lock)).isTrue();
    assertThat(here.attempt(neverArrived)).isEqualTo(Standing.GONE);
  }

  @Test
  void aLateAttemptOfAWithdrawnWaiterTakesNoPlaceInLine() {
    String lock = bench.lock("lateWaiter");
    Hold hold = there.take(lock);
    Claim neverArrived = here.ask(lock).claim();
    here.withdraw(neverArrived.asUnsettled());
    Claim stood = here.ask(lock).stand();
    here.withdraw(stood.asUnsettled());

    assertThat(here.attempt(neverArrived)).isEqualTo(Standing.GONE);
    assertThat(here.attempt(stood)).isEqualTo(Standing.GONE);
    there.withdraw(hold);
    assertThat(there.findsFree(lock)).isTrue();
  }

  @Test
  void aLateAttemptIsGoneWhateverItAskedFor() {
    String lock = bench.lock("lateOther");
    Claim impatient = here.ask(lock).withoutQueueing().claim();
    Claim reader = here.ask(lock).mode(Mode.SHARED).claim();
    here.withdraw(impatient.asUnsettled());
    here.withdraw(reader.asUnsettled());

    assertThat(here.attempt(impatient)).isEqualTo(Standing.GONE);
    assertThat(here.attempt(reader)).isEqualTo(Standing.GONE);
    assertThat(there.findsFree(lock)).isTrue();
  }

  @Test
  void renewTellsAWaiterThatMissedItsBell() {
    String lock = bench.lock("missed");
    Hold hold = here.take(lock);
    Claim waiter = there.ask(lock).stand();

    here.withdraw(hold);

    Standing.Held told = held(there.renew(waiter));
    assertThat(told.token()).isGreaterThan(hold.tokens().lastToken());
    assertThat(there.attempt(waiter)).isEqualTo(told);
  }

  @Test
  void renewRevivesNothing() {
    String lock = bench.lock("revive");
    Claim never = here.ask(lock).claim();
    Hold withdrawn = here.take(lock);
    here.withdraw(withdrawn);

    assertThat(here.renew(never)).isEqualTo(Standing.GONE);
    assertThat(here.renew(withdrawn.claim())).isEqualTo(Standing.GONE);
    assertThat(there.findsFree(lock)).isTrue();
  }

  @Test
  void oneRenewTellsOfHeldWaitingAndGoneClaimsOfManyLocks() {
    Hold hold = here.take(bench.lock("a"));
    String busy = bench.lock("b");
    there.take(busy);
    Claim waiting = here.ask(busy).stand();
    Claim gone = here.ask(bench.lock("c")).claim();

    Map<ClaimId, Standing> standings = here.renew(List.of(waiting, gone, hold.claim()));

    assertThat(standings).containsOnlyKeys(hold.claim().id(), waiting.id(), gone.id());
    assertThat(standings)
        .containsEntry(hold.claim().id(), hold.tokens())
        .containsEntry(gone.id(), Standing.GONE);
    assertThat(standings.get(waiting.id())).isInstanceOf(Standing.Waiting.class);
  }

  @Test
  void anEmptyRenewIsAnsweredWithNothing() {
    assertThat(here.renew(List.of())).isEmpty();
  }

  @Test
  void waitersAreServedInOrder() {
    String lock = bench.lock("order");
    Hold hold = here.take(lock);
    List<Claim> line = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      line.add((i % 2 == 0 ? there : here).ask(lock).stand());
    }
    here.withdraw(hold);

    for (int i = 0; i < line.size(); i++) {
      SeamClient client = i % 2 == 0 ? there : here;
      assertThat(client.renew(line.get(i))).isInstanceOf(Standing.Held.class);
      for (int later = i + 1; later < line.size(); later++) {
        SeamClient other = later % 2 == 0 ? there : here;
        assertThat(other.renew(line.get(later))).isInstanceOf(Standing.Waiting.class);
      }
      client.withdraw(line.get(i));
    }
    assertThat(here.findsFree(lock)).isTrue();
  }

  @Test
  void requestsOfOneClientTakeEffectInTheOrderInWhichTheyWereMade() {
    String lock = bench.lock("pipelined");
    Claim first = here.ask(lock).claim();
    Claim second = here.ask(lock).claim();
    Claim third = here.ask(lock).claim();

    List<CompletableFuture<?>> answers = new ArrayList<>();
    for (Claim claim : List.of(first, second, third)) {
      answers.add(here.store().attempt(claim, standing -> {}).toCompletableFuture());
    }
    answers.add(here.store().withdraw(first).toCompletableFuture());
    SeamClient.answer(() -> CompletableFuture.allOf(answers.toArray(CompletableFuture[]::new)));

    assertThat(here.renew(first)).isEqualTo(Standing.GONE);
    assertThat(here.renew(second)).isInstanceOf(Standing.Held.class);
    assertThat(here.renew(third)).isInstanceOf(Standing.Waiting.class);
  }

  @Test
  void aStoreClosedLeavesItsServiceToTheOthers() {
    String lock = bench.lock("closed");
    SeamClient leaving = bench.client();
    Hold hold = leaving.take(lock);
    leaving.withdraw(hold);

    leaving.store().close();

    assertThat(here.findsFree(lock)).isTrue();
    assertThat(here.store().describe()).isNotBlank();
  }
}
