package io.pawl.bench.suite;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.bench.Settings;
import io.pawl.bench.ShortRuns;
import io.pawl.bench.report.Metric;
import io.pawl.bench.report.Section;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Another JVM leads in the end. No test here looks at a speed. */
class ElectionSuiteTest {

  @TempDir Path folder;

  @ParameterizedTest
  @ValueSource(strings = {"SQLite, kill", "Redis, clean close"})
  void eachRoundHasANewLeader(String contest) {
    Settings settings = new Settings(2, 0, 0, 0, contest, ShortRuns.JVM_ARGUMENTS, folder, "");
    List<Section> sections = new ElectionSuite().measure(settings, said -> {});

    assertThat(sections).hasSize(1);
    assertThat(sections.get(0).sides().get(0).forks())
        .hasSize(2)
        .allMatch(round -> round.of(Metric.TAKE_OVER) > 0);
    assertThat(folder).isEmptyDirectory();
  }

  @Test
  void aContestThatIsLeftOutStartsNothing() {
    Settings settings =
        new Settings(1, 0, 0, 0, "no such contest", ShortRuns.JVM_ARGUMENTS, folder, "");
    assertThat(new ElectionSuite().measure(settings, said -> {})).isEmpty();
  }
}
