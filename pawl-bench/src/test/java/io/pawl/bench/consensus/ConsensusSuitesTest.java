package io.pawl.bench.consensus;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.bench.Settings;
import io.pawl.bench.ShortRuns;
import io.pawl.bench.contest.ContestRunner;
import io.pawl.bench.contest.Held;
import io.pawl.bench.contest.HeldContest;
import io.pawl.bench.report.Metric;
import io.pawl.bench.report.Section;
import io.pawl.bench.report.Side;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Every rival takes part on every service. No test here looks at a speed. */
class ConsensusSuitesTest {

  @TempDir Path folder;

  private Settings settings(String contest) {
    return new Settings(1, 0.2, 0.1, 2, contest, ShortRuns.JVM_ARGUMENTS, folder, "");
  }

  @ParameterizedTest
  @EnumSource
  void eachRivalExcludesAndItsRequestsAreCounted(Service service) {
    ConsensusSuite suite = new ConsensusSuite(service, false);
    try (ConsensusGround ground = suite.open(folder)) {
      for (String contest : List.of("64 locks", "one lock, 2 JVMs")) {
        List<Section> sections =
            new ContestRunner(suite, settings(contest), said -> {}).run(ground);
        assertThat(sections).hasSize(1);
        assertThat(sections.get(0).sides())
            .allMatch(Side::isMeasured)
            .allMatch(side -> side.figure(Metric.OPERATIONS) > 0);
      }
    }
  }

  @Test
  void eachSemaphoreLetsInAsManyAsItHasPermits() {
    ConsensusSuite suite = new ConsensusSuite(Service.ZOOKEEPER, false);
    try (ConsensusGround ground = suite.open(folder)) {
      List<Section> sections =
          new ContestRunner(suite, settings("semaphore"), said -> {}).run(ground);
      assertThat(sections).hasSize(1);
      assertThat(sections.get(0).sides()).hasSize(3).allMatch(Side::isMeasured);
    }
  }

  @ParameterizedTest
  @EnumSource
  void leasesAreHeldGivenBackAndTakenOverFromTheDead(Service service) {
    try (ConsensusGround ground = service.start(false)) {
      Section held =
          new HeldContest("held", ground, settings("held"), said -> {})
              .run(20, List.of(Held.PAWL, service.rival), 1, List.of())
              .get(0);
      assertThat(held.sides())
          .hasSize(2)
          .allMatch(side -> side.figure(Metric.INVALID) == 0)
          .allMatch(side -> side.figure(Metric.LEFT) == 0);

      Section taken = new TakeOverContest(service, settings("")).run("s", ground, said -> {});
      assertThat(taken.sides()).hasSize(2).allMatch(side -> side.figure(Metric.TAKE_OVER) > 0);
    }
  }

  @ParameterizedTest
  @EnumSource
  void locksAreTakenAgainWhenTheLeaderWasKilledAndTheServersAreMended(Service service) {
    try (ConsensusGround ground = service.start(true)) {
      Section section = new LeaderContest(service, settings(""), 5).run("s", ground, said -> {});

      assertThat(section.sides())
          .hasSize(2)
          .allMatch(side -> side.figure(Metric.NOBODY) > 0)
          .allMatch(side -> side.figure(Metric.ONE_CLIENT) >= side.figure(Metric.NOBODY));
      assertThat(ground.requests()).isPositive();
    }
  }
}
