package io.pawl.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DurationTextTest {

  @ParameterizedTest
  @CsvSource({"500ms,PT0.5S", "30s,PT30S", "5m,PT5M", "2h,PT2H", "1d,PT24H", "PT30S,PT30S"})
  void peoplesNotationsAreRead(String text, Duration expected) {
    assertThat(DurationText.parse("--wait", text)).isEqualTo(expected);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "30", "s", "1.5s", "-1s", "PT-1S", "99999999999999999d", "1w"})
  void anythingElseIsRefusedByName(String text) {
    assertThatThrownBy(() -> DurationText.parse("--wait", text))
        .isInstanceOf(Failure.class)
        .hasMessageStartingWith("--wait: ");
  }

  @Test
  void theTwoLargestUnitsAreShown() {
    assertThat(DurationText.format(Duration.ofMillis(1250))).isEqualTo("1.2s");
    assertThat(DurationText.format(Duration.ofSeconds(125))).isEqualTo("2m 5s");
    assertThat(DurationText.format(Duration.ofHours(50))).isEqualTo("2d 2h");
    assertThat(DurationText.format(Duration.ofSeconds(-3))).isEqualTo("-3.0s");
  }
}
