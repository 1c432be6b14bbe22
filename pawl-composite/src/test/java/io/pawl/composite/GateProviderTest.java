package io.pawl.composite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.Pawl;
import io.pawl.spi.StoreUrl;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class GateProviderTest {

  private static final String SECRET = "canary|7c1e";

  @TempDir Path folder;

  @ParameterizedTest
  @ValueSource(
      strings = {
        "gate:",
        "gate:redis://h",
        "gate:|",
        "gate:redis://h|nothing",
        "gate:redis://h|unknown://h",
        "gate:nothing|sqlite:/tmp/x",
        "gate:gate:redis://h|sqlite:/a|sqlite:/b",
      })
  void urlsThatCannotBeRightAreRefused(String url) {
    assertThatThrownBy(() -> Pawl.connect(url))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("URL");
  }

  @Test
  void aGateThatIsAwayIsLeftOutAndNoPasswordIsShown() throws Exception {
    String gate = "redis://:" + SECRET + "@localhost:1?timeout=200ms";
    String url = "gate:" + gate + "|sqlite:" + folder.resolve("truth.db");
    try (GateStore store = (GateStore) new GateProvider().open(StoreUrl.parse(url));
        Pawl pawl = Pawl.over(store)) {
      assertThat(store.isGateAway()).isTrue();
      pawl.lock("lock").acquire().close();
      assertThat(store.describe() + pawl + store.diagnose() + StoreUrl.parse(url))
          .contains("truth.db", "localhost:1")
          .doesNotContain("7c1e");
    }
  }

  @Test
  void passwordsStandInNoMessage() {
    for (String url :
        new String[] {
          "gate:redis://u:" + SECRET + "@h|unknown://u:" + SECRET + "@h",
          "gate:unknown://u:" + SECRET + "@h|sqlite:/nowhere/x.db",
          "gate:redis://u:" + SECRET + "@h",
        }) {
      assertThatThrownBy(() -> Pawl.connect(url)).hasMessageNotContaining("7c1e");
    }
  }

  @Test
  void timesThatCannotBeRightAreRefused() {
    GateOptions options = GateOptions.defaults();
    Duration tooLong = Duration.ofHours(1);
    for (Runnable change :
        new Runnable[] {
          () -> options.gatePatience(Duration.ZERO),
          () -> options.gatePatience(tooLong),
          () -> options.gatePause(Duration.ZERO),
          () -> options.gatePause(tooLong),
          () -> options.soldOutKept(Duration.ZERO),
          () -> options.soldOutKept(tooLong),
          () -> options.settle(Duration.ZERO),
          () -> options.settle(tooLong),
        }) {
      assertThatThrownBy(change::run)
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("is not between");
    }
  }
}
