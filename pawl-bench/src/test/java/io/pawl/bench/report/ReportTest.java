package io.pawl.bench.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What the report says follows from what was measured. */
class ReportTest {

  private static Side side(String name, double... cycles) {
    return new Side(
        name, Arrays.stream(cycles).mapToObj(c -> new Sample(Map.of(Metric.CYCLES, c))).toList());
  }

  private static Section section(List<Side> sides, Target... targets) {
    return new Section("s", "t", sides, List.of(targets), List.of("a note"));
  }

  @Test
  void mediansAreOverForks() {
    assertThat(side("a", 30, 10, 20).figure(Metric.CYCLES)).isEqualTo(20);
    assertThat(side("a", 10, 20).figure(Metric.CYCLES)).isEqualTo(15);
  }

  @Test
  void theWorstForkCountsForBounds() {
    List<Sample> forks =
        List.of(new Sample(Map.of(Metric.MAX, 3.0)), new Sample(Map.of(Metric.MAX, 9.0)));

    assertThat(new Side("a", forks).figure(Metric.MAX)).isEqualTo(9);
  }

  @Test
  void aRatioPairsTheForksOfOneRound() {
    Side ours = side("a", 10, 200, 3000);

    assertThat(ours.ratio(Metric.CYCLES, side("b", 10, 100, 1000), Metric.CYCLES)).isEqualTo(2);
  }

  @Test
  void aTargetIsMetMissedOrNotMeasured() {
    List<Side> sides = List.of(side("a", 90), side("b", 100), side("c"));

    assertThat(Target.timesAtLeast(0.9, "a", Metric.CYCLES, "b").verdict(sides))
        .isEqualTo(Target.Verdict.MET);
    assertThat(Target.timesAtLeast(0.91, "a", Metric.CYCLES, "b").verdict(sides))
        .isEqualTo(Target.Verdict.MISSED);
    assertThat(Target.timesAtMost(0.8, "a", Metric.CYCLES, "b").verdict(sides))
        .isEqualTo(Target.Verdict.MISSED);
    assertThat(Target.atLeast("b", Metric.CYCLES, 100).verdict(sides))
        .isEqualTo(Target.Verdict.MET);
    assertThat(Target.atMost("c", Metric.CYCLES, 100).verdict(sides))
        .isEqualTo(Target.Verdict.UNMEASURED);
    assertThat(Target.atMost("a", Metric.P99, 100).verdict(sides))
        .isEqualTo(Target.Verdict.UNMEASURED);
  }

  @Test
  void aTargetMayBeBesideAnotherFigureOfTheOtherSide() {
    Side ours = new Side("a", List.of(new Sample(Map.of(Metric.HAND_OFF_P50, 3.0))));
    Side theirs = new Side("b", List.of(new Sample(Map.of(Metric.ANY_HAND_OFF_P50, 2.0))));
    Target target =
        Target.timesAtMost(1.5, "a", Metric.HAND_OFF_P50, "b").besideIts(Metric.ANY_HAND_OFF_P50);

    assertThat(target.measured(List.of(ours, theirs))).isEqualTo(1.5);
    assertThat(target.verdict(List.of(ours, theirs))).isEqualTo(Target.Verdict.MET);
    assertThat(target.words()).endsWith("× b: " + Metric.ANY_HAND_OFF_P50.title());
  }

  @Test
  void aThreadThatGotNothingMakesTheSpreadInfinite() {
    assertThat(Numbers.spread(new long[] {5, 0})).isInfinite();
    assertThat(Numbers.show(Double.POSITIVE_INFINITY)).isEqualTo("∞");
  }

  @Test
  void theTableShowsFiguresTargetsAndNotes() {
    List<Side> sides = List.of(side("Pawl", 1234), side("rival", 1000));
    Target target = Target.timesAtLeast(2, "Pawl", Metric.CYCLES, "rival");

    assertThat(Table.of(List.of(section(sides, target))))
        .isEqualTo(
            """
            s: t
                     cycles/s
              Pawl      1,234
              rival     1,000
              target  Pawl: cycles/s ≥ 2.00 × rival: 1.23 ×, NOT MET
              note    a note

            """);
  }

  @Test
  void jsonHasEveryForkAndTheVerdicts() {
    Section section = section(List.of(side("a", 1, 2, 3)), Target.atLeast("a", Metric.CYCLES, 5));

    assertThat(JsonReport.of(Map.of("cores", "2"), List.of(section)))
        .contains("\"forks\":[{\"cycles\":1.0},{\"cycles\":2.0},{\"cycles\":3.0}]")
        .contains("\"overForks\":{\"cycles\":2.0}")
        .contains("\"verdict\":\"NOT MET\"");
  }
}
