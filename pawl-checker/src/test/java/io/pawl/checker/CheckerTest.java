package io.pawl.checker;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.checker.Take.Outcome;
import io.pawl.checker.Tenure.End;
import io.pawl.checker.Tenure.Loss;
import io.pawl.checker.Verdict.Ruling;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Histories that hold, and histories that each break one promise and no other. */
class CheckerTest {

  private static final Checker CHECKER = new Checker(100, 5, 10_000);

  /** Asked for 2 before it was valid, released within 2. */
  private static Tenure tenure(Share share, long token, long from, long until) {
    return new Tenure(
        "lock",
        "holder of " + token,
        share,
        token,
        new Span(from - 2, from),
        new Span(from, until),
        End.RELEASED,
        new Span(until, until + 2),
        Loss.NONE);
  }

  private static Tenure lost(long token, long from, long until, Loss loss) {
    Tenure held = tenure(Share.EXCLUSIVE, token, from, until);
    return new Tenure(
        held.lock(),
        held.holder(),
        held.share(),
        token,
        held.acquiring(),
        held.valid(),
        End.LOST,
        new Span(until + 10, until + 11),
        loss);
  }

  private static History of(Tenure... tenures) {
    return History.EMPTY.withTenures(List.of(tenures));
  }

  private static void assertKept(History history) {
    assertThat(CHECKER.judge(history)).hasSize(7).allMatch(Verdict::isKept);
  }

  private static void assertBroken(History history, String... promises) {
    List<Verdict> verdicts = CHECKER.judge(history);
    assertThat(verdicts)
        .filteredOn(verdict -> verdict.ruling() == Ruling.BROKEN)
        .extracting(verdict -> verdict.promise().substring(0, 2))
        .containsExactly(promises);
    assertThat(verdicts)
        .filteredOn(verdict -> verdict.ruling() == Ruling.BROKEN)
        .allSatisfy(verdict -> assertThat(verdict.violations()).isNotEmpty());
  }

  @Test
  void oneAfterAnotherIsKept() {
    assertKept(History.EMPTY);
    assertKept(of(tenure(Share.EXCLUSIVE, 1, 10, 20), tenure(Share.EXCLUSIVE, 2, 21, 30)));
  }

  @Test
  void readersTogetherAreKept_whateverTheirTokens() {
    assertKept(
        of(
            tenure(Share.EXCLUSIVE, 1, 10, 20),
            tenure(Share.SHARED, 3, 30, 50),
            tenure(Share.SHARED, 2, 35, 60),
            tenure(Share.EXCLUSIVE, 4, 70, 80)));
  }

  @Test
  void permitsUpToTheCapacityAreKept() {
    assertKept(
        of(
            tenure(Share.permits(2, 3), 7, 10, 20),
            tenure(Share.permits(1, 3), 6, 12, 30),
            tenure(Share.permits(2, 3), 5, 24, 30)));
  }

  @Test
  void twoHoldersAreFound() {
    assertBroken(
        of(tenure(Share.EXCLUSIVE, 1, 10, 20), tenure(Share.EXCLUSIVE, 2, 15, 30)), "P1", "li");
  }

  @Test
  void aWriterBesideAReaderIsFound() {
    assertBroken(
        of(tenure(Share.SHARED, 1, 10, 20), tenure(Share.EXCLUSIVE, 2, 15, 30)), "P1", "li");
  }

  @Test
  void onePermitTooManyIsFound() {
    assertBroken(
        of(
            tenure(Share.permits(2, 3), 1, 10, 20),
            tenure(Share.permits(1, 3), 2, 12, 20),
            tenure(Share.permits(1, 3), 3, 14, 20)),
        "P1",
        "li");
  }

  @Test
  void anOverlapOfALeaseThatWasLostInTimeIsNone() {
    assertKept(of(lost(1, 10, 20, new Loss(1, 21, 22)), tenure(Share.EXCLUSIVE, 2, 25, 40)));
  }

  @Test
  void aMeetingOfTwoWhoHeldIsFoundWithoutAnyClock() {
    Tenure one = tenure(Share.EXCLUSIVE, 1, 10, 20);
    Tenure other = tenure(Share.EXCLUSIVE, 2, 30, 40);
    assertBroken(of(one, other).withEncounters(List.of(new Encounter(other, one))), "P1");
    Tenure lost = lost(1, 10, 20, new Loss(1, 21, 22));
    assertKept(of(lost, other).withEncounters(List.of(new Encounter(other, lost))));
  }

  @Test
  void aTokenThatIsGivenTwiceIsFound() {
    assertBroken(
        of(tenure(Share.EXCLUSIVE, 1, 10, 20), tenure(Share.EXCLUSIVE, 1, 30, 40)), "P2", "li");
    assertBroken(
        of(tenure(Share.permits(1, 3), 1, 10, 20), tenure(Share.permits(1, 3), 1, 11, 19)),
        "P2",
        "li");
  }

  @Test
  void aTokenThatFallsIsFound() {
    assertBroken(
        of(tenure(Share.EXCLUSIVE, 2, 10, 20), tenure(Share.EXCLUSIVE, 1, 30, 40)), "P2", "li");
    assertBroken(
        of(tenure(Share.EXCLUSIVE, 2, 10, 20), tenure(Share.SHARED, 1, 30, 40)), "P2", "li");
  }

  @Test
  void aTokenThatFallsIsFoundThoughBothAskedAtOnce() {
    Tenure first = tenure(Share.EXCLUSIVE, 2, 10, 20);
    Tenure second = tenure(Share.EXCLUSIVE, 1, 30, 40);
    Tenure early =
        new Tenure(
            "lock",
            "h",
            Share.EXCLUSIVE,
            1,
            new Span(0, 30),
            second.valid(),
            End.RELEASED,
            second.closing(),
            Loss.NONE);
    assertBroken(of(first, early), "P2", "li");
  }

  @Test
  void aStaleWriteIsFound() {
    Write later = new Write("file", 1, 7, true, true);
    Write stale = new Write("file", 2, 5, true, false);
    assertBroken(History.EMPTY.withWrites(List.of(stale, later)), "P3");
    Write refused = new Write("file", 2, 5, false, false);
    assertKept(History.EMPTY.withWrites(List.of(later, refused)));
  }

  @Test
  void aHolderThatWasRefusedIsFound() {
    Write later = new Write("file", 1, 7, true, true);
    assertBroken(
        History.EMPTY.withWrites(List.of(later, new Write("file", 2, 5, false, true))), "P3");
  }

  @Test
  void aLossThatWasNotTold_orTwice_orLate_orInVain_isFound() {
    assertBroken(of(lost(1, 10, 20, new Loss(0, Span.OPEN, 22))), "P5");
    assertBroken(of(lost(1, 10, 20, new Loss(2, 21, 22))), "P5");
    assertBroken(of(lost(1, 10, 20, new Loss(1, 28, 22))), "P5");
    assertKept(of(lost(1, 10, 20, new Loss(1, 27, 22))));
    Tenure held = tenure(Share.EXCLUSIVE, 1, 10, 20);
    assertBroken(
        of(
            new Tenure(
                "lock",
                "h",
                Share.EXCLUSIVE,
                1,
                held.acquiring(),
                held.valid(),
                End.RELEASED,
                held.closing(),
                new Loss(1, 30, Span.OPEN))),
        "P5");
  }

  @Test
  void aLeaseThatIsValidAfterItsLossIsFound() {
    assertBroken(of(lost(1, 10, 20, new Loss(1, 15, 22))), "P5");
  }

  private static History waiting(long from, long until) {
    return of(tenure(Share.EXCLUSIVE, 1, 50, 150))
        .withWaits(List.of(new Wait("lock", "waiter", new Span(from, until))));
  }

  @Test
  void aWaitBesideAFreeLockIsFound() {
    assertBroken(waiting(60, 260), "P6");
    assertBroken(waiting(60, Span.OPEN), "P6");
    assertKept(waiting(60, 250));
    assertKept(waiting(0, 200));
  }

  @Test
  void aWaitDuringAFaultIsExcused_butNoLonger() {
    assertKept(waiting(60, 400).withFaults(List.of(new Span(200, 320))));
    assertBroken(waiting(60, 430).withFaults(List.of(new Span(200, 320))), "P6");
  }

  /** Served in turns, each asking as soon as it was served before; one waits all the time. */
  private static History overtaking(long from, long until) {
    return of(
            tenure(Share.EXCLUSIVE, 1, 50, 90),
            tenure(Share.EXCLUSIVE, 2, 100, 140),
            tenure(Share.EXCLUSIVE, 3, 150, 190),
            tenure(Share.EXCLUSIVE, 4, 200, 240))
        .withWaits(List.of(new Wait("lock", "waiter", new Span(from, until))));
  }

  @Test
  void aWaiterThatAllOthersOvertakeIsFound() {
    assertBroken(overtaking(60, 260), "P6");
    assertBroken(overtaking(60, Span.OPEN), "P6");
    assertKept(overtaking(60, 190));
    assertKept(overtaking(105, 260));
    assertKept(overtaking(60, 260).withFaults(List.of(new Span(150, 155))));
  }

  @Test
  void waitsThatFaultsLeaveNoTimeToJudgeAreUnknown_andNotKept() {
    History busy = waiting(60, 250).withFaults(List.of(new Span(100, 200)));
    assertThat(busy.calmNanos(100)).isZero();
    assertThat(CHECKER.judge(busy))
        .filteredOn(verdict -> verdict.ruling() == Ruling.UNKNOWN)
        .singleElement()
        .matches(verdict -> verdict.promise().startsWith("P6"));
    assertThat(waiting(60, 310).withFaults(List.of(new Span(100, 200))).calmNanos(100))
        .isEqualTo(110);
  }

  private static Take take(String id, long amount, Outcome outcome, long value, long from) {
    return new Take("stock", id, amount, outcome, value, true, new Span(from, from + 5));
  }

  private static History takes(long after, Take... takes) {
    return History.EMPTY.withTakes(List.of(takes), List.of(new Stock("stock", 3, 0, after)));
  }

  @Test
  void takesThatAddUpAreKept() {
    assertKept(
        takes(
            1,
            take("a", 2, Outcome.APPLIED, 1, 0),
            take("b", 2, Outcome.REFUSED, 1, 10),
            take("c", 2, Outcome.UNCHANGED, 0, 20)));
  }

  @Test
  void anUnknownTakeMayHaveBeenAppliedOrNot_andCountsAsNeither() {
    Take unknown = take("u", 2, Outcome.UNKNOWN, 0, 0);
    assertKept(takes(1, unknown));
    assertKept(takes(3, unknown));
    assertBroken(takes(0, unknown), "P7");
    assertKept(takes(1, unknown, take("b", 2, Outcome.REFUSED, 1, 50)));
  }

  @Test
  void aTakeThatCountsTwice_orNotAtAll_isFound() {
    assertBroken(takes(1, take("a", 1, Outcome.APPLIED, 2, 0)), "P7");
    assertBroken(takes(3, take("a", 1, Outcome.APPLIED, 2, 0)), "P7");
    assertBroken(takes(2, take("a", 1, Outcome.REFUSED, 0, 0)), "P7", "li");
  }

  @Test
  void aValueBelowTheFloorIsFound() {
    assertBroken(takes(-1, take("a", 4, Outcome.APPLIED, -1, 0)), "P7", "li");
  }

  @Test
  void anAnswerThatNoOrderExplainsIsFound() {
    assertBroken(
        takes(1, take("a", 1, Outcome.APPLIED, 1, 0), take("b", 1, Outcome.APPLIED, 2, 10)), "li");
    assertKept(takes(1, take("a", 1, Outcome.APPLIED, 1, 0), take("b", 1, Outcome.APPLIED, 2, 4)));
  }

  @Test
  void aSearchThatIsGivenUpIsUnknown_andNotKept() {
    Take[] atOnce = new Take[12];
    for (int i = 0; i < atOnce.length; i++) {
      atOnce[i] = take("t" + i, i % 2 == 0 ? 1 : -1, Outcome.APPLIED, 40, 0);
    }
    List<Verdict> verdicts = new Checker(100, 5, 50).judge(takes(3, atOnce));
    Verdict last = verdicts.get(verdicts.size() - 1);
    assertThat(last.ruling()).isEqualTo(Ruling.BROKEN);

    for (int i = 0; i < atOnce.length; i++) {
      atOnce[i] =
          new Take(
              "stock", "t" + i, i % 2 == 0 ? 1 : -1, Outcome.APPLIED, 0, false, new Span(0, 5));
    }
    Take[] impossible = java.util.Arrays.copyOf(atOnce, 13);
    impossible[12] = take("x", 1, Outcome.APPLIED, 40, 10);
    verdicts = new Checker(100, 5, 50).judge(takes(2, impossible));
    last = verdicts.get(verdicts.size() - 1);
    assertThat(last.ruling()).isEqualTo(Ruling.UNKNOWN);
    assertThat(last.isKept()).isFalse();
    assertThat(last.violations()).singleElement().asString().contains("given up after 50 steps");
  }
}
