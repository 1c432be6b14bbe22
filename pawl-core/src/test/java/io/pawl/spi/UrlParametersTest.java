package io.pawl.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class UrlParametersTest {

  private static Map<String, String> parse(String query) {
    return UrlParameters.parse(query, Set.of("master", "trustStore", "trustStorePassword"));
  }

  /** A value is shown, as a path that cannot be read or a primary that nobody knows. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "master=m;sentinelPassword=CANARY",
        "trustStore=/a.p12;trustStorePassword=CANARY",
        "trustStore=/a.p12,trustStorePassword=CANARY",
        "trustStore=/a.p12?trustStorePassword=CANARY",
        "trustStore=/a.p12 trustStorePassword=CANARY",
        "trustStore=/a.p12%26trustStorePassword=CANARY"
      })
  void aPasswordBehindAnotherSeparatorIsRefusedUnseen(String query) {
    assertThatThrownBy(() -> parse(query))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("write & between")
        .hasMessageNotContaining("CANARY");
  }

  @Test
  void valuesMayHaveWhatSeparatesOthers() {
    assertThat(parse("trustStore=/k;s/env=a,key/ca.p12&trustStorePassword=a;pass=b,c"))
        .containsEntry("trustStore", "/k;s/env=a,key/ca.p12")
        .containsEntry("trustStorePassword", "a;pass=b,c");
    assertThat(parse("trustStore=/my keys/env=a/ca.p12"))
        .containsEntry("trustStore", "/my keys/env=a/ca.p12");
  }
}
