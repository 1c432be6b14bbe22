package io.pawl.bench.micro;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.bench.Settings;
import io.pawl.bench.Suites;
import io.pawl.bench.report.Metric;
import io.pawl.bench.report.Section;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ShortCutSuiteTest {

  @TempDir Path folder;

  @Test
  void eachShortCutIsMeasuredBesideTheScriptWithoutIt() {
    Settings settings = new Settings(1, 0.01, 0, 1, "", List.of(), folder, "");

    List<Section> sections = Suites.named("redis-scripts").measure(settings, said -> {});

    assertThat(sections).hasSize(ShortCut.all().size());
    assertThat(sections)
        .flatExtracting(Section::sides)
        .allMatch(side -> side.has(Metric.OPERATION_NANOS));
    assertThat(ShortCut.all()).allMatch(cut -> !cut.script().equals(cut.without()));
  }
}
