package io.pawl.bench.suite;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.bench.Suites;
import io.pawl.bench.contest.ContestSuite;
import io.pawl.bench.contest.ExclusionViolation;
import io.pawl.bench.rival.Rival;
import io.pawl.bench.rival.SqlFlavour;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Every rival takes what it says, and the ground sees it. No test here looks at a speed. */
class CountersSqlSuiteTest {

  @TempDir Path folder;

  @ParameterizedTest
  @EnumSource
  void aTakeThatTheTablesHaveNotSeenIsAViolation(SqlFlavour flavour) throws Exception {
    ContestSuite suite = (ContestSuite) Suites.named("counters-" + flavour.word());
    try (ContestSuite.Ground ground = suite.open(folder)) {
      for (Rival rival : suite.rivals()) {
        String address = ground.fresh();
        try (Rival.Client client = rival.connect(address);
            Rival.Turn turn = client.lock("thread")) {
          turn.acquire();
          turn.acquire();
        }
        ground.checkRows(address, 2);
        assertThatThrownBy(() -> ground.checkRows(address, 3))
            .as(rival.name())
            .isInstanceOf(ExclusionViolation.class);
      }
    }
  }
}
