package io.pawl.bench.suite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.bench.Settings;
import io.pawl.bench.ShortRuns;
import io.pawl.bench.Suites;
import io.pawl.bench.contest.Contest;
import io.pawl.bench.contest.ContestRunner;
import io.pawl.bench.contest.ExclusionViolation;
import io.pawl.bench.report.Metric;
import io.pawl.bench.report.Section;
import io.pawl.bench.report.Side;
import io.pawl.bench.rival.Rival;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Both ways to the truth are measured, and a sale that the tables have not seen is a violation. */
class GateSuiteTest {

  @TempDir Path folder;

  private final GateSuite suite = (GateSuite) Suites.named("gate");

  private Settings settings(String contest) {
    return new Settings(1, 0.2, 0.1, 4, contest, ShortRuns.JVM_ARGUMENTS, folder, "");
  }

  @Test
  void locksRefusalsAndSalesAreMeasuredThroughTheGateAndAlone() throws Exception {
    try (GateSuite.GateGround ground = suite.open(folder)) {
      Section locks = measure("2 JVMs", ground);
      assertThat(locks.sides()).hasSize(3).allMatch(Side::isMeasured);
      assertThat(locks.sides().get(0).has(Metric.JVM_SPREAD)).isTrue();
      assertThat(locks.sides().get(2).has(Metric.JVM_SPREAD)).as("one JVM, one thread").isFalse();
      Contest refusals = suite.contests().get(2);
      for (String rival : refusals.rivals()) {
        refuse(suite.rival(rival), ground.fresh());
      }

      SaleContest sale = new SaleContest("gate", ground, settings(""), said -> {});
      Section sold = sale.run(320).get(0);

      assertThat(sold.sides()).hasSize(2).allMatch(side -> side.figure(Metric.ITEMS) > 0);
      assertThat(sold.sides().get(1).figure(Metric.REACHED)).isEqualTo(2);
      SaleContest.checkTables(ground.truth(), 320);
      assertThatThrownBy(() -> SaleContest.checkTables(ground.truth(), 321))
          .isInstanceOf(ExclusionViolation.class);
    }
  }

  private static void refuse(Rival rival, String address) throws InterruptedException {
    try (Rival.Client client = rival.connect(address);
        Rival.Turn turn = client.lock("thread")) {
      turn.acquire();
      turn.acquire();
    }
  }

  private Section measure(String contest, GateSuite.GateGround ground) {
    return new ContestRunner(suite, settings(contest), said -> {}).run(ground).get(0);
  }
}
