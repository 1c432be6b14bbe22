package io.pawl.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DurationTextTest {

  @ParameterizedTest
  @CsvSource({
    "500ms,PT0.5S",
    "30s,PT30S",
    "5m,PT5M",
    "2h,PT2H",
    "1d,PT24H",
    "PT30S,PT30S",
    "0s,PT0S",
    "36525d,PT876600H"
  })
  void peoplesNotationsAreRead(String text, Duration expected) {
    assertThat(DurationText.parse("--wait", text)).isEqualTo(expected);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "30", "s", "1.5s", "-1s", "PT-1S", "36526d", "99999999999999999d", "1w"})
  void anythingElseIsRefusedWithItsNameItsValueAndWhatToWrite(String text) {
    assertThatThrownBy(() -> DurationText.parse("--wait", text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("--wait: '" + text + "' is ")
        .hasMessageContaining("; write ")
        .hasNoCause();
  }

  @Test
  void whatMayBeAPartOfAnAddressIsRefusedUnseen() {
    assertThatThrownBy(() -> DurationText.parse("timeout", "2s@user:CANARY"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("timeout: (not shown) is no duration; write 500ms")
        .hasNoCause();
  }

  @Test
  void aParameterOfAUrlIsReadLikeAnOption() {
    Duration usual = Duration.ofSeconds(1);
    assertThat(UrlParameters.duration(Map.of("timeout", "PT2S"), "timeout", usual)).hasSeconds(2);
    assertThat(UrlParameters.duration(Map.of(), "timeout", usual)).isEqualTo(usual);
  }

  @Test
  void theTwoLargestUnitsAreShown() {
    assertThat(DurationText.format(Duration.ofMillis(1250))).isEqualTo("1.2s");
    assertThat(DurationText.format(Duration.ofSeconds(125))).isEqualTo("2m 5s");
    assertThat(DurationText.format(Duration.ofHours(50))).isEqualTo("2d 2h");
    assertThat(DurationText.format(Duration.ofSeconds(-3))).isEqualTo("-3.0s");
  }
}
