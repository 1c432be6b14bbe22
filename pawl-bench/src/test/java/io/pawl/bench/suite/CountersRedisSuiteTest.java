package io.pawl.bench.suite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.bench.Settings;
import io.pawl.bench.ShortRuns;
import io.pawl.bench.contest.ContestSuite;
import io.pawl.bench.contest.ExclusionViolation;
import io.pawl.bench.report.Metric;
import io.pawl.bench.report.Section;
import io.pawl.bench.rival.Rival;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Every rival takes part and conserves. No test here looks at a speed. */
class CountersRedisSuiteTest {

  @TempDir Path folder;

  private final CountersRedisSuite suite = new CountersRedisSuite();

  @Test
  void eachRivalTakesWhatItSays() {
    Settings settings =
        new Settings(1, 0.2, 0.1, 4, "64 threads", ShortRuns.JVM_ARGUMENTS, folder, "");
    List<Section> sections = suite.measure(settings, said -> {});

    assertThat(sections).hasSize(1);
    assertThat(sections.get(0).sides())
        .hasSize(3)
        .allMatch(side -> side.figure(Metric.CYCLES) > 0)
        .allMatch(side -> side.figure(Metric.OPERATIONS) > 0);
  }

  @Test
  void aTakeThatTheCounterHasNotSeenIsAViolation() {
    try (ContestSuite.Ground ground = suite.open(folder)) {
      for (Rival rival : suite.rivals()) {
        String address = ground.fresh();
        try (Rival.Client client = rival.connect(address);
            Rival.Turn turn = client.lock("thread")) {
          turn.acquire();
          turn.acquire();
        } catch (InterruptedException e) {
          throw new AssertionError(e);
        }
        ground.checkRows(address, 2);
        assertThatThrownBy(() -> ground.checkRows(address, 3))
            .isInstanceOf(ExclusionViolation.class);
      }
    }
  }
}
