package io.pawl.sql.dialect;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.spi.Diagnosable.Finding;
import io.pawl.spi.Diagnosable.Level;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import org.assertj.core.api.Condition;
import org.awaitility.Awaitility;

/** What {@code doctor} says of a server, asked on a connection of any account. */
interface Doctor {

  List<Finding> findings(Connection connection) throws SQLException;

  static Connection connect(String url, String user, String password) throws SQLException {
    return DriverManager.getConnection(url, user, password);
  }

  static void run(Connection connection, String... statements) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      for (String sql : statements) {
        statement.execute(sql);
      }
    }
  }

  /** Nothing but what is well. */
  static void assertHealthy(List<Finding> findings) {
    assertThat(findings)
        .hasSizeGreaterThan(5)
        .allSatisfy(finding -> assertThat(finding.level()).isEqualTo(Level.OK))
        .allSatisfy(finding -> assertThat(finding.fix()).isEmpty());
  }

  /** Servers show much of this a moment later. */
  default void awaitHealthy(Connection connection) {
    Awaitility.await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(() -> assertHealthy(findings(connection)));
  }

  /** Waits until one finding of {@code level} contains {@code text}, and all others are well. */
  default void awaitOnly(Connection connection, Level level, String text) {
    Awaitility.await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(
            () ->
                assertThat(findings(connection))
                    .filteredOn(finding -> finding.level() != Level.OK)
                    .singleElement()
                    .has(says(level, text)));
  }

  private static Condition<Finding> says(Level level, String text) {
    return new Condition<>(
        finding ->
            finding.level() == level && finding.what().contains(text) && !finding.fix().isEmpty(),
        level + " with a fix that says " + text);
  }
}
