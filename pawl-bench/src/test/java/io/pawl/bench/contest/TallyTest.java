package io.pawl.bench.contest;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.bench.report.Metric;
import io.pawl.bench.report.Sample;
import java.util.List;
import java.util.OptionalLong;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;

/** What processes counted becomes one sample. */
class TallyTest {

  @Test
  void processesOfOneRunAddUp() {
    Histogram waits = new Histogram(2);
    waits.recordValue(4_000_000);
    Histogram none = new Histogram(2);
    Tally one =
        new Tally(1_000_000_000, 500_000_000, 9, new long[] {4, 2}, waits, none, none, none);
    Tally two =
        new Tally(2_000_000_000, 100_000_000, 3, new long[] {1, 1}, waits, none, none, none);

    Sample sample =
        Tally.sum(
            Load.of(2, 1).inEachOf(2),
            List.of(one, two),
            new Usage(OptionalLong.of(24), OptionalLong.of(12_000_000)));

    assertThat(sample.of(Metric.CYCLES)).isEqualTo(7);
    assertThat(sample.of(Metric.THREAD_SPREAD)).isEqualTo(4);
    assertThat(sample.of(Metric.JVM_SPREAD)).isEqualTo(3);
    assertThat(sample.of(Metric.CPU_SECONDS)).isEqualTo(0.6);
    assertThat(sample.of(Metric.CPU_MICROS)).isEqualTo(75_000);
    assertThat(sample.of(Metric.OPERATIONS)).isEqualTo(2);
    assertThat(sample.of(Metric.STORE_CPU_MICROS)).isEqualTo(1_000);
    assertThat(sample.of(Metric.MAX)).isBetween(3.9, 4.1);
  }
}
