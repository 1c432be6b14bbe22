package io.pawl.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.servers.EtcdServer;
import io.pawl.spi.Inspectable.ClaimView;
import io.pawl.spi.Mode;
import io.pawl.spi.StoreUrl;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How long a crash delays others. */
class LeaseLengthsTest {

  private static final Duration MOST_SPARE = Duration.ofSeconds(6);

  @ParameterizedTest
  @ValueSource(strings = {"PT2S", "PT30S", "PT1M", "PT5M", "PT1H", "P7D"})
  void p6_someoneGetsIn_aCrashDelaysOthersByAnEighthAndSixSecondsMoreThanTheLease(Duration lease) {
    try (EtcdServer server = EtcdServer.start(Urls.QUICK);
        EtcdStore store = EtcdStore.connect(EtcdUrl.parse(StoreUrl.parse(Urls.of(server))))) {
      Seam client = new Seam(store);
      client.take(client.claim("lock", Mode.EXCLUSIVE, lease));

      ClaimView holder = Seam.answer(store.show("lock")).orElseThrow().holders().get(0);

      Duration left = Duration.between(Instant.now(), holder.until());
      assertThat(left).isLessThan(lease.plus(lease.dividedBy(8)).plus(MOST_SPARE));
    }
  }
}
