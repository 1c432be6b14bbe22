package io.pawl.lab.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.checker.Verdict.Ruling;
import io.pawl.lab.chaos.Ground.Store;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Locks and counters on real servers keep their promises under faults. {@code
 * -Dpawl.chaos.seconds=60 -Dpawl.chaos.stores=all} runs longer and on every store, {@code
 * -Dpawl.chaos.seed} with other faults.
 */
class ChaosTest {

  /** A build runs beside whatever else its machine does: {@code ./pawl chaos} judges these. */
  private static final String OF_TIME = "bounded waits";

  @TempDir Path folder;

  static Stream<Store> stores() {
    String stores = System.getProperty("pawl.chaos.stores", "sqlite,redis,postgres");
    return stores.equals("all")
        ? Arrays.stream(Store.values())
        : Arrays.stream(stores.split(",")).map(Store::of);
  }

  @ParameterizedTest
  @MethodSource("stores")
  @Timeout(600)
  void everyPromiseIsKeptUnderFaults(Store store) {
    long seconds = Long.getLong("pawl.chaos.seconds", 10);
    long seed = Long.getLong("pawl.chaos.seed", 17);
    ChaosRun.Order order =
        new ChaosRun.Order(
            Library.PAWL, store, seed, 1_000 * seconds, 1_000, Chaos.QUIET, List.of());

    Result result = ChaosRun.run(order, folder, (fault, victim) -> {});

    assertThat(result.stuck()).as(Report.of(result)).isEmpty();
    assertThat(result.verdicts())
        .as(Report.of(result))
        .filteredOn(verdict -> verdict.ruling() == Ruling.BROKEN)
        .filteredOn(verdict -> !verdict.promise().startsWith(OF_TIME))
        .isEmpty();
    assertThat(result.hasBitten()).as(Report.of(result)).isTrue();
    assertThat(result.acquired()).isPositive();
  }
}
