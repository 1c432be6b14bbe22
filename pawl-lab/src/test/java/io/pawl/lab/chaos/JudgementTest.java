package io.pawl.lab.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.checker.Share;
import io.pawl.checker.Span;
import io.pawl.checker.Verdict;
import io.pawl.checker.Verdict.Ruling;
import io.pawl.lab.chaos.Fault.Kind;
import io.pawl.lab.chaos.Ground.Store;
import io.pawl.lab.chaos.Notebook.End;
import io.pawl.lab.chaos.Notebook.Line;
import io.pawl.lab.chaos.Notebook.Page;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What workers may have written down, judged as a run is: each page of a good run is there, and one
 * forged page breaks the promise that is named, and no other. Times are in milliseconds.
 */
class JudgementTest {

  private static final String OVERTAKEN = "P6 someone gets in";
  private static final String BOUNDED = "bounded waits";
  private static final ChaosRun.Order ORDER =
      new ChaosRun.Order(Library.PAWL, Store.REDIS, 1, 1_000, 1_000, List.of(), List.of());

  @TempDir Path folder;

  private final List<Played> played = new ArrayList<>();
  private final List<Span> late = new ArrayList<>();
  private final Takeovers takeovers = new Takeovers(ORDER.leaseMillis());
  private Notebook one;
  private Notebook other;
  private long numbers;

  /** One takes the lock every half second, and for 20 s nothing is wrong. */
  @BeforeEach
  void writeAGoodRun() {
    one = Notebook.of(folder, 0);
    other = Notebook.of(folder, 1);
    for (int turn = 0; turn < 40; turn++) {
      long from = 1_000 + 500 * turn;
      held(turn % 2 == 0 ? one : other, Subject.STRICT, 1 + turn, from, from + 100, from + 300);
    }
  }

  private static long nanos(long millis) {
    return TimeUnit.MILLISECONDS.toNanos(millis);
  }

  private static Span span(long from, long until) {
    return new Span(nanos(from), nanos(until));
  }

  private static Page asked(Notebook notebook, Subject subject, Shape shape, long at) {
    Page page = notebook.ask(subject, Share.EXCLUSIVE, shape);
    page.set(Line.ASKED, nanos(at));
    return page;
  }

  private Page held(
      Notebook notebook, Subject subject, long token, long asked, long granted, long until) {
    Page page = asked(notebook, subject, Shape.ACQUIRE, asked);
    page.set(Line.TOKEN, token);
    page.set(Line.GRANTED, nanos(granted));
    page.set(Line.VALID_FROM, nanos(granted));
    page.set(Line.VALID_UNTIL, nanos(until));
    page.set(Line.FENCED_NUMBER, ++numbers);
    page.set(Line.FENCED_VALID, 1);
    page.set(Line.FENCED, 2);
    page.set(Line.CLOSE_BEGAN, nanos(until));
    ended(page, End.RELEASED, until + 1);
    return page;
  }

  private static void ended(Page page, End end, long at) {
    page.set(Line.ENDED, nanos(at));
    page.set(Line.END, end.ordinal());
  }

  private void fault(Kind kind, int victim, long from, long until) {
    played.add(new Played(kind, victim, "", nanos(from), nanos(until), 1));
  }

  private Result result(String... stuck) {
    Chronicle chronicle =
        new Chronicle(
            folder, List.of(0, 1), Map.of(), played, late, nanos(ORDER.tailMillis()), List.of());
    return Result.of(ORDER, 20, 2, played, late, chronicle, takeovers, List.of(stuck));
  }

  private List<String> rulings(Ruling ruling) {
    return result().verdicts().stream()
        .filter(verdict -> verdict.ruling() == ruling)
        .map(Verdict::promise)
        .toList();
  }

  private void assertBroken(String promise) {
    assertThat(rulings(Ruling.BROKEN)).singleElement().asString().startsWith(promise);
    assertThat(result().isBroken()).isTrue();
    assertThat(Report.of(result())).contains("**broken**");
  }

  private void assertNothingBroken() {
    assertThat(rulings(Ruling.BROKEN)).isEmpty();
    assertThat(result().isBroken()).isFalse();
  }

  @Test
  void aGoodRunKeepsAll() {
    assertNothingBroken();
    assertThat(rulings(Ruling.KEPT)).hasSize(10);
    assertThat(result().judgedSeconds()).isGreaterThan(15);
  }

  /** From 2 s to 6 s, beside others that are served all the time. */
  private void waitForFourSeconds() {
    ended(asked(one, Subject.STRICT, Shape.INTERRUPTED, 2_000), End.NOT_GRANTED, 6_000);
  }

  @Test
  void whoeverWaitsWhileThoseAreServedWhoAskedLongAfterIsFound() {
    waitForFourSeconds();
    assertBroken(OVERTAKEN);
    assertThat(Report.of(result())).contains("worker 0, INTERRUPTED waited for chaos-strict");
  }

  @Test
  void whoeverWaitsForLessThanTheBoundIsRight() {
    ended(asked(one, Subject.STRICT, Shape.ACQUIRE, 2_000), End.NOT_GRANTED, 4_900);
    assertNothingBroken();
  }

  @Test
  void aFaultExcusesAWaitAndSoDoesTheTimeToGetOverIt() {
    waitForFourSeconds();
    fault(Kind.CABLE_CUT, -1, 500, 3_000);
    assertNothingBroken();
  }

  @Test
  void aFaultThatWasOverLongBeforeExcusesNoWait() {
    ended(asked(one, Subject.STRICT, Shape.ACQUIRE, 7_000), End.NOT_GRANTED, 11_000);
    fault(Kind.CABLE_CUT, -1, 500, 3_000);
    assertBroken(OVERTAKEN);
  }

  @Test
  void aMachineThatHadNoTimeExcusesAWait() {
    waitForFourSeconds();
    late.add(span(2_500, 2_900));
    assertNothingBroken();
  }

  @Test
  void aWallClockThatMovedExcusesNoWait() {
    waitForFourSeconds();
    fault(Kind.WORKER_CLOCK_MOVED, -1, 2_500, 2_900);
    assertBroken(OVERTAKEN);
  }

  @Test
  void whoeverWaitsBesideAFreeLockIsFound() {
    ended(asked(one, Subject.DEFAULT, Shape.ACQUIRE, 2_000), End.NOT_GRANTED, 6_000);
    assertBroken(OVERTAKEN);
  }

  @Test
  void waitsAmongFaultsThatLeaveNoTimeToJudgeAreNotKnown() {
    for (long from = 1_000; from < 21_000; from += 5_000) {
      fault(Kind.CABLE_CUT, -1, from, from + 1_000);
    }
    assertNothingBroken();
    assertThat(rulings(Ruling.UNKNOWN)).singleElement().asString().startsWith(OVERTAKEN);
    assertThat(Report.of(result())).contains("**not known**");
    assertThat(result().judgedSeconds()).isZero();
  }

  private void tryFor(long bound, long took) {
    Page page = asked(one, Subject.DEFAULT, Shape.TRY, 2_000).within(Duration.ofMillis(bound));
    ended(page, End.NOT_GRANTED, 2_000 + took);
  }

  @Test
  void aBoundedWaitThatLastsTooLongIsFoundThoughTheStoreIsAway() {
    fault(Kind.CABLE_CUT, -1, 1_900, 5_000);
    tryFor(9, 700);
    assertNothingBroken();
    tryFor(9, 918);
    assertBroken(BOUNDED);
  }

  @Test
  void aGroupMayTakeItsTimeToGiveBackWhatItHolds() {
    Page page = asked(one, Subject.GROUP_ONE, Shape.GROUP, 2_000).within(Duration.ofMillis(9));
    ended(page, End.NOT_GRANTED, 3_200);
    assertNothingBroken();
    page.set(Line.ENDED, nanos(3_400));
    assertBroken(BOUNDED);
  }

  @Test
  void aBoundedWaitOfAProcessThatStoodStillIsExcused() {
    tryFor(9, 918);
    fault(Kind.WORKER_STOPPED, 0, 2_100, 2_500);
    assertNothingBroken();
  }

  @Test
  void aCallbackThatWaitsForItsBodyInVainIsFound() {
    held(one, Subject.DEFAULT, 1, 3_000, 3_100, 3_200).set(Line.JOINED, 2);
    assertBroken("callbacks");
  }

  @Test
  void whoeverComesInBesideTheBodyOfAClosingClientIsFound() {
    Page body = held(one, Subject.CLOSING, 7, 3_000, 3_100, 3_500);
    body.set(Line.SHAPE, Shape.CLOSING.ordinal());
    body.set(Line.VALID_UNTIL, nanos(3_150));
    body.set(Line.TOLD_AT, nanos(3_150));
    body.set(Line.TOLD, 1);
    ended(body, End.LOST, 3_501);
    assertNothingBroken();
    held(other, Subject.CLOSING, 8, 3_100, 3_300, 3_400);
    assertBroken("P8 closing");
  }

  @Test
  void twoHoldersAreFound() {
    held(one, Subject.DEFAULT, 1, 3_000, 3_100, 3_300);
    held(other, Subject.DEFAULT, 2, 3_000, 3_200, 3_400);
    assertThat(rulings(Ruling.BROKEN))
        .extracting(promise -> promise.substring(0, 2))
        .containsExactly("P1", "li");
  }

  /** From 2.5 s, with what the replica lags, to 6 s, with the lease after it. */
  private void takeOver() {
    takeovers.add(nanos(3_000), nanos(5_000));
  }

  @Test
  void twoHoldersWhileAReplicaTakesOverAreToldAndBreakNoPromise() {
    takeOver();
    held(one, Subject.DEFAULT, 1, 2_900, 3_100, 3_300);
    held(other, Subject.DEFAULT, 2, 3_100, 3_200, 3_400);
    assertNothingBroken();
    assertThat(Report.of(result())).contains("took over 1 times").contains("**1** times two");
  }

  @Test
  void twoHoldersBeforeAReplicaTookOverAreFound() {
    takeOver();
    held(one, Subject.DEFAULT, 1, 2_000, 2_100, 2_800);
    held(other, Subject.DEFAULT, 2, 2_100, 2_200, 2_800);
    assertThat(rulings(Ruling.BROKEN)).anyMatch(promise -> promise.startsWith("P1"));
  }

  @Test
  void twoHoldersALeaseAfterAReplicaTookOverAreFound() {
    takeOver();
    held(one, Subject.DEFAULT, 1, 3_000, 3_100, 6_300);
    held(other, Subject.DEFAULT, 2, 6_000, 6_100, 6_300);
    assertThat(rulings(Ruling.BROKEN)).anyMatch(promise -> promise.startsWith("P1"));
  }

  @Test
  void aTokenThatFallsWhileAReplicaTakesOverIsFound() {
    takeOver();
    held(one, Subject.DEFAULT, 2, 2_900, 3_100, 3_300);
    held(other, Subject.DEFAULT, 1, 3_350, 3_400, 3_500).set(Line.FENCED, 0);
    assertThat(rulings(Ruling.BROKEN)).anyMatch(promise -> promise.startsWith("P2"));
  }

  @Test
  void aLossThatIsToldTwiceWhileAReplicaTakesOverIsFound() {
    takeOver();
    Page page = held(one, Subject.DEFAULT, 1, 3_000, 3_100, 3_300);
    page.set(Line.FENCED, 0);
    page.set(Line.TOLD_AT, nanos(3_400));
    page.set(Line.TOLD, 2);
    ended(page, End.LOST, 3_500);
    assertBroken("P5");
  }

  @Test
  void aLossThatWasToldTwiceIsFound() {
    Page page = held(one, Subject.DEFAULT, 1, 3_000, 3_100, 3_300);
    page.set(Line.FENCED, 0);
    page.set(Line.TOLD_AT, nanos(3_400));
    page.set(Line.TOLD, 2);
    ended(page, End.LOST, 3_500);
    assertBroken("P5");
  }

  @Test
  void aLockThatIsLeftBehindBreaksTheRun() {
    assertThat(result("chaos-strict was not free").isBroken()).isTrue();
  }

  @Test
  void aRunWhoseFaultsHitNothingHasNotBitten() {
    Page stale = held(one, Subject.DEFAULT, 1, 3_000, 3_100, 3_300);
    fault(Kind.WORKER_STOPPED, 0, 2_900, 3_000);
    assertThat(result().hasBitten()).as("no stale write").isFalse();
    stale.set(Line.UNFENCED, 2);
    assertThat(result().hasBitten()).isTrue();
    played.add(new Played(Kind.CABLE_CUT, -1, "", nanos(9_000), nanos(9_100), 0));
    assertThat(result().hasBitten()).as("a fault without a hit").isFalse();
  }
}
