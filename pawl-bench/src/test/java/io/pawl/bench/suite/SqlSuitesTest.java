package io.pawl.bench.suite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.bench.Settings;
import io.pawl.bench.ShortRuns;
import io.pawl.bench.Suites;
import io.pawl.bench.contest.ContestRunner;
import io.pawl.bench.contest.ExclusionViolation;
import io.pawl.bench.contest.Held;
import io.pawl.bench.contest.HeldContest;
import io.pawl.bench.report.Metric;
import io.pawl.bench.report.Section;
import io.pawl.bench.report.Side;
import io.pawl.bench.rival.SqlFlavour;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Every rival takes part on every server. No test here looks at a speed. */
class SqlSuitesTest {

  @TempDir Path folder;

  private Settings settings(String contest) {
    return new Settings(1, 0.2, 0.1, 4, contest, ShortRuns.JVM_ARGUMENTS, folder, "");
  }

  private static SqlSuite suite(SqlFlavour flavour) {
    return (SqlSuite) Suites.named(flavour.word());
  }

  private Section measure(SqlSuite suite, SqlGround ground, String contest) {
    List<Section> sections = new ContestRunner(suite, settings(contest), said -> {}).run(ground);
    assertThat(sections).hasSize(1);
    assertThat(sections.get(0).sides()).allMatch(Side::isMeasured);
    return sections.get(0);
  }

  @ParameterizedTest
  @EnumSource
  void eachRivalExcludesAndLeavesItsMark(SqlFlavour flavour) {
    SqlSuite suite = suite(flavour);
    try (SqlGround ground = suite.open(folder)) {
      assertThat(ground.notes().get(0)).contains(flavour.title).contains("commit=");

      assertThat(measure(suite, ground, "64 locks").sides()).hasSize(3);
      assertThat(measure(suite, ground, "2 JVMs").metrics()).contains(Metric.JVM_SPREAD);
    }
  }

  @ParameterizedTest
  @EnumSource
  void whatWaitingCostsIsCounted(SqlFlavour flavour) {
    List<Section> sections =
        Suites.named(flavour.word() + "-waiting").measure(settings("10 clients"), said -> {});

    assertThat(sections).hasSize(1);
    assertThat(sections.get(0).sides())
        .hasSize(2)
        .allMatch(side -> side.has(Metric.STATEMENTS))
        .allMatch(side -> side.has(Metric.COMMITS))
        .allMatch(side -> side.has(Metric.LOG));
  }

  @ParameterizedTest
  @EnumSource
  void pruningForgetsWhatIsOldAndLosesNothing(SqlFlavour flavour) {
    try (SqlGround ground = new SqlGround(flavour)) {
      Section section =
          new PruneSuite(flavour).measure("few", 5_000, ground, settings("few"), said -> {});

      assertThat(section.sides()).hasSize(2).allMatch(side -> side.has(Metric.MAX));
      assertThat(section.sides().get(1).figure(Metric.SECONDS)).isPositive();
    }
  }

  /** What these need of a server differs between two of them only. */
  @ParameterizedTest
  @EnumSource(names = {"MYSQL", "POSTGRESQL"})
  void rowsAreWrittenAndCountedAndLeasesHeld(SqlFlavour flavour) {
    try (SqlGround ground = new SqlGround(flavour)) {
      Section writing = measure(suite(flavour), ground, "5,000 threads");
      assertThat(writing.metrics()).contains(Metric.ALL_MILLIS);
      List<Section> held =
          new HeldContest("held", new SqlHeldSuite.Counted(ground), settings("held"), said -> {})
              .run(20, List.of(Held.PAWL), 1, List.of());
      assertThat(held.get(0).sides().get(0).figure(Metric.LOST)).isZero();

      String address = ground.fresh();
      try (ProtectedRows rows = new ProtectedRows(address)) {
        rows.modify(7);
        rows.modify(7);
      }
      ground.checkRows(address, 2);
      assertThatThrownBy(() -> ground.checkRows(address, 3))
          .isInstanceOf(ExclusionViolation.class)
          .hasMessageContaining("of 3 rows written under their locks 2 writes are left");
    }
  }
}
