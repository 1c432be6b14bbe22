package io.pawl.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LockNameTest {

  @ParameterizedTest
  @ValueSource(
      strings = {
        "a",
        " ",
        "orders:42",
        "{a}{b",
        "../x",
        "'; DROP TABLE",
        "é",
        "e\u0301",
        "🔒",
        "A "
      })
  void anyPrintableNameIsTakenAsItIs(String name) {
    assertThat(LockName.check(name)).isSameAs(name);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "a\0",
        "a\r\n",
        "\u009b31m",
        "\u007f",
        "\ud83d",
        "a\ud83d",
        "\udd12\ud83d",
        "\udd12"
      })
  void whatCannotBeANameIsRefused(String name) {
    assertThatThrownBy(() -> LockName.check(name))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("lock name");
  }

  @ParameterizedTest
  @ValueSource(strings = {"a", "é", "€", "🔒"})
  void theBoundCountsBytesOfUtf8(String character) {
    int bytes = character.getBytes(StandardCharsets.UTF_8).length;
    String longest = character.repeat(LockName.MAX_BYTES / bytes);
    assertThat(LockName.check(longest)).hasSizeLessThanOrEqualTo(LockName.MAX_BYTES);
    assertThatThrownBy(() -> LockName.check(longest + character))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("longer than 512 bytes");
  }

  @Test
  void aHugeNameIsNotRepeatedInTheMessage() {
    assertThatThrownBy(() -> LockName.check("x".repeat(1 << 16)))
        .satisfies(refusal -> assertThat(refusal.getMessage()).hasSizeLessThan(200));
  }
}
