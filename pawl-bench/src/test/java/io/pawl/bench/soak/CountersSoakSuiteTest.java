package io.pawl.bench.soak;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.bench.Settings;
import io.pawl.bench.Suites;
import io.pawl.bench.contest.ExclusionViolation;
import io.pawl.bench.rival.SqlFlavour;
import io.pawl.bench.soak.SoakNotes.Note;
import io.pawl.bench.soak.SoakPlan.Kind;
import io.pawl.servers.RedisServer;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A soak plays every fault, keeps its account right, and finds what was tampered with. */
class CountersSoakSuiteTest {

  @TempDir Path folder;

  private Settings settings(String only, SoakPlan plan) {
    List<String> jvm =
        List.of("-XX:TieredStopAtLevel=1", "-Dorg.slf4j.simpleLogger.defaultLogLevel=error");
    return new Settings(1, 0, 0, 0, only, "", jvm, folder, "", plan.takes(), plan.seed(), false);
  }

  @Test
  void p7_conservation_takesOnADatabaseOutliveEveryFault() throws Exception {
    try (SoakGround ground = SoakGround.of(SqlFlavour.POSTGRESQL)) {
      soak(
          ground,
          SoakPlan.of(14, 300_000, 1),
          take -> {
            try (Connection connection = DriverManager.getConnection(ground.ownAddress());
                Statement statement = connection.createStatement()) {
              String sql = "DELETE FROM pawl_ledger WHERE id = '" + take.text() + "'";
              assertThat(statement.executeUpdate(sql)).isEqualTo(1);
            }
          });
    }
  }

  @Test
  void p7_conservation_takesOnRedisOutliveEveryFault() throws Exception {
    try (SoakGround ground = SoakGround.redis()) {
      RedisServer server = (RedisServer) ground.parts().get(0).server();
      soak(
          ground,
          SoakPlan.of(71, 50_000, 1),
          take -> {
            String key = "pawl:counter:" + take.counter();
            assertThat(server.call("HDEL", key, "e:" + take.text())).isEqualTo(1L);
          });
    }
  }

  private interface Deletion {
    void of(SoakTake take) throws Exception;
  }

  /** All is as told, until a line is deleted. */
  private void soak(SoakGround ground, SoakPlan plan, Deletion deletion) throws Exception {
    SoakRun run = new SoakRun(ground, plan, settings("", plan), folder, said -> {});

    SoakRun.Result result = run.run();

    assertThat(result.violations()).as("seed %s", plan.seed()).isEmpty();
    assertThat(result.played()).containsOnlyKeys(Kind.values());
    assertThat(result.count(Note.TAKEN, Note.REFUSED)).isGreaterThanOrEqualTo(plan.takes());
    assertThat(result.count(Note.TAKEN)).isPositive();
    assertThat(result.count(Note.REFUSED)).isPositive();
    CountersSoakSuite suite = new CountersSoakSuite();
    assertThat(suite.report("soak", plan, result)).hasSize(2);

    SoakTake deleted = taken();
    deletion.of(deleted);
    List<String> violations = run.violations();
    assertThat(violations).hasSize(2);
    assertThat(violations.get(0)).contains("but the ledger has takes of");
    assertThat(violations.get(1))
        .contains("take " + deleted.text())
        .endsWith("is not in the ledger");
    SoakRun.Result tampered =
        new SoakRun.Result(Map.of(), Map.of(), result.jvms(), result.seconds(), violations);
    assertThatThrownBy(() -> suite.report("soak", plan, tampered))
        .isInstanceOf(ExclusionViolation.class)
        .hasMessageContaining("--seed " + plan.seed())
        .hasMessageContaining(deleted.text());
  }

  private SoakTake taken() {
    for (int jvm = 0; jvm < SoakTake.CLIENTS; jvm++) {
      SoakNotes notes = SoakNotes.of(folder, jvm, 100_000);
      for (int number = 0; number < Math.min(notes.asked(), 100_000); number++) {
        if (notes.get(notes.take(number)) == Note.TAKEN) {
          return notes.take(number);
        }
      }
    }
    throw new AssertionError("nothing was taken");
  }

  @Test
  void isKnownByItsName() {
    assertThat(Suites.named("counters-soak")).isInstanceOf(CountersSoakSuite.class);
  }

  @Test
  void aServiceThatIsLeftOutStartsNothing() {
    assertThat(
            new CountersSoakSuite()
                .measure(settings("no such service", SoakPlan.of(1, 1, 1)), said -> {}))
        .isEmpty();
    assertThat(folder).isEmptyDirectory();
  }

  @Test
  void oneSeedIsOnePlan() {
    SoakPlan plan = SoakPlan.of(7, 1_000_000, 2);
    assertThat(SoakPlan.of(7, 1_000_000, 2)).isEqualTo(plan);
    assertThat(SoakPlan.of(8, 1_000_000, 2)).isNotEqualTo(plan);
    assertThat(plan.faults())
        .hasSize(3 * 13)
        .isSortedAccordingTo((a, b) -> Long.compare(a.at(), b.at()));
  }
}
