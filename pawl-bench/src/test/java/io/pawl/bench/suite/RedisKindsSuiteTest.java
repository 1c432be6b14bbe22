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

/** Every rival takes part and excludes. No test here looks at a speed. */
class RedisKindsSuiteTest {

  @TempDir Path folder;

  private final RedisKindsSuite suite = new RedisKindsSuite();

  @Test
  void eachRivalIsMeasuredAndWritersByThemselvesWhereThereAreReaders() {
    Settings settings = new Settings(1, 0.3, 0.1, 12, "", ShortRuns.JVM_ARGUMENTS, folder, "");
    List<Section> sections = suite.measure(settings, said -> {});

    assertThat(sections).hasSize(2);
    assertThat(sections.get(0).sides())
        .hasSize(3)
        .allMatch(side -> side.figure(Metric.OPERATIONS) > 0)
        .allMatch(side -> side.has(Metric.WRITER_MAX));
    assertThat(sections.get(1).sides())
        .hasSize(4)
        .allMatch(side -> side.figure(Metric.OPERATIONS) > 0)
        .noneMatch(side -> side.has(Metric.WRITER_MAX));
  }
}
