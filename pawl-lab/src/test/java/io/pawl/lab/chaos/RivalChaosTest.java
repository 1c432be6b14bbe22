package io.pawl.lab.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.checker.Verdict;
import io.pawl.lab.chaos.Fault.Kind;
import io.pawl.lab.chaos.Ground.Store;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Other libraries come through the same run. Whether they break a promise is not asked here. */
class RivalChaosTest {

  private static final Fault STOP = new Fault(300, Kind.WORKER_STOPPED, 0, 1_500, 1);

  @TempDir Path folder;

  @ParameterizedTest
  @CsvSource({
    "REDISSON, VALKEY",
    "CURATOR, ZOOKEEPER",
    "SPRING_INTEGRATION, REDIS",
    "SPRING_INTEGRATION, POSTGRES",
    "SHEDLOCK, MYSQL"
  })
  @Timeout(300)
  void aRivalIsGrantedLeasesAndJudged(Library library, Store store) {
    ChaosRun.Order order =
        new ChaosRun.Order(library, store, 17, 2_000, 1_000, Chaos.QUIET, List.of(STOP));

    Result result = ChaosRun.run(order, folder, (fault, victim) -> {});

    String report = Report.of(result);
    assertThat(result.acquired()).as(report).isPositive();
    assertThat(result.verdicts())
        .extracting(Verdict::promise)
        .as(report)
        .anyMatch(promise -> promise.startsWith("P1"))
        .anyMatch(promise -> promise.startsWith("P6"))
        .noneMatch(promise -> promise.startsWith("P5"));
    assertThat(report.contains("has no tokens")).as(report).isNotEqualTo(library.hasTokens());
  }
}
