package io.pawl.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.bench.SoakNotes.Note;
import io.pawl.bench.SoakPlan.Kind;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A soak plays every fault, keeps its account right, and finds what was tampered with. */
class CountersSoakSuiteTest {

  private static final long SEED = 7;
  private static final long TAKES = 60_000;

  @TempDir Path folder;

  private Settings settings(String only) {
    List<String> jvm =
        List.of("-XX:TieredStopAtLevel=1", "-Dorg.slf4j.simpleLogger.defaultLogLevel=error");
    return new Settings(1, 0, 0, 0, only, jvm, folder, "", TAKES, SEED);
  }

  @Test
  void p7_conservation_takesOutliveEveryFaultAndALineThatIsMissingIsSeen() throws Exception {
    try (SoakGround ground = SoakGround.of(SqlFlavour.POSTGRESQL)) {
      SoakPlan plan = SoakPlan.of(SEED, TAKES, 1);
      SoakRun run = new SoakRun(ground, plan, settings(""), folder, said -> {});

      SoakRun.Result result = run.run();

      assertThat(result.violations()).isEmpty();
      assertThat(result.played()).containsOnlyKeys(Kind.values());
      assertThat(result.count(Note.TAKEN, Note.REFUSED)).isGreaterThanOrEqualTo(TAKES);
      assertThat(result.count(Note.TAKEN)).isPositive();
      assertThat(result.count(Note.REFUSED)).isPositive();
      CountersSoakSuite suite = new CountersSoakSuite();
      assertThat(suite.report("soak", plan, result)).hasSize(2);

      String id = taken(folder).text();
      change(ground, "DELETE FROM pawl_ledger WHERE id = '" + id + "'");
      List<String> violations = run.violations();
      assertThat(violations).hasSize(2);
      assertThat(violations.get(0)).contains("but the ledger has takes of");
      assertThat(violations.get(1)).contains("take " + id).endsWith("is not in the ledger");
      SoakRun.Result tampered =
          new SoakRun.Result(Map.of(), Map.of(), result.jvms(), result.seconds(), violations);
      assertThatThrownBy(() -> suite.report("soak", plan, tampered))
          .isInstanceOf(ExclusionViolation.class)
          .hasMessageContaining("--seed " + SEED)
          .hasMessageContaining(id);
    }
  }

  private static SoakTake taken(Path folder) {
    SoakNotes notes = SoakNotes.of(folder, 0, 1_000);
    int number = 0;
    while (notes.get(notes.take(number)) != Note.TAKEN) {
      number++;
    }
    return notes.take(number);
  }

  private static void change(SoakGround ground, String sql) throws SQLException {
    try (Connection connection = DriverManager.getConnection(ground.ownAddress());
        Statement statement = connection.createStatement()) {
      assertThat(statement.executeUpdate(sql)).isEqualTo(1);
    }
  }

  @Test
  void isKnownByItsName() {
    assertThat(Suites.named("counters-soak")).isInstanceOf(CountersSoakSuite.class);
  }

  @Test
  void aServiceThatIsLeftOutStartsNothing() {
    assertThat(new CountersSoakSuite().measure(settings("no such service"), said -> {})).isEmpty();
    assertThat(folder).isEmptyDirectory();
  }

  @Test
  void oneSeedIsOnePlan() {
    SoakPlan plan = SoakPlan.of(SEED, 1_000_000, 2);
    assertThat(SoakPlan.of(SEED, 1_000_000, 2)).isEqualTo(plan);
    assertThat(SoakPlan.of(SEED + 1, 1_000_000, 2)).isNotEqualTo(plan);
    assertThat(plan.faults())
        .hasSize(3 * 13)
        .isSortedAccordingTo((a, b) -> Long.compare(a.at(), b.at()));
  }
}
