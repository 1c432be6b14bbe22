package io.pawl.bench.consensus;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class GapsTest {

  private static final long MILLI = 1_000_000;

  @Test
  void theLongestTimesOfAllAndOfOneAreToldAlsoWhereTheyHaveNotEnded() {
    Gaps gaps = new Gaps(2, 0);
    gaps.granted(0, 5 * MILLI);
    gaps.granted(1, 7 * MILLI);
    assertThat(gaps.told(7 * MILLI)).isEqualTo("5.0 7.0 0");

    gaps.begin(10 * MILLI);
    gaps.granted(0, 11 * MILLI);
    gaps.failed();
    assertThat(gaps.told(40 * MILLI)).isEqualTo("29.0 30.0 1");
  }
}
