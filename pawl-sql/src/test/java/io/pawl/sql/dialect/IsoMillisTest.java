package io.pawl.sql.dialect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.DateTimeException;
import java.time.Instant;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class IsoMillisTest {

  @Test
  void agreesWithInstant() {
    Random random = new Random(1);
    for (int i = 0; i < 100_000; i++) {
      long millis = random.nextLong(-30_000_000_000_000L, 260_000_000_000_000L);
      millis = i % 3 == 0 ? millis / 1000 * 1000 : millis;
      String text = Instant.ofEpochMilli(millis).toString();
      assertThat(IsoMillis.format(millis)).isEqualTo(text);
      assertThat(IsoMillis.parse(text)).isEqualTo(millis);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"2027-01-15T08:00:00.123456Z", "2027-01-15T10:00:00.123+02:00"})
  void otherSpellingsAreReadByInstant(String text) {
    assertThat(IsoMillis.parse(text)).isEqualTo(Instant.parse(text).toEpochMilli());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "soon",
        "2027-13-15T08:00:00Z",
        "2027-02-30T08:00:00Z",
        "2027-01-15T25:00:00Z",
        "2027-01-15T08:60:00Z",
        "2027-01-15 08:00:00Z",
        "2027-01-15T08:00:00.12xZ"
      })
  void nonsenseIsRefusedAsBefore(String text) {
    assertThatThrownBy(() -> IsoMillis.parse(text)).isInstanceOf(DateTimeException.class);
  }
}
