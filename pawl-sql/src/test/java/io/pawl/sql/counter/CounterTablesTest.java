package io.pawl.sql.counter;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.Pawl;
import io.pawl.sql.TestDatabase;
import io.pawl.sql.dialect.Database;
import io.pawl.sql.dialect.Dialect.Failure;
import io.pawl.sql.transaction.Session;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class CounterTablesTest {

  private static final String EARLY = "order-a";
  private static final String LATE = "order-b";

  /** Else two clients wait for each other, each with a row that the other takes before or after. */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void whoeverWaitsForACounterHoldsNoneThatItTookOutOfOrder(TestDatabase server) throws Exception {
    try (Pawl pawl = Pawl.connect(server.url())) {
      pawl.counter(EARLY).add(1);
      pawl.counter(LATE).add(1);
    }
    Database database = server.database();
    CounterTables tables = new CounterTables(database.dialect());
    ExecutorService threads = Executors.newCachedThreadPool();
    try (Connection somebody = server.connect();
        Connection passer = server.connect();
        Session session = new Session(database)) {
      assertThat(locksAtOnce(somebody, EARLY)).isTrue();

      Future<?> locking =
          threads.submit(
              () ->
                  tables.lock(session, new TreeSet<>(Set.of(EARLY, LATE)), Set.of(LATE), Map.of()));
      while (!locking.isDone()) {
        assertThat(locksAtOnce(passer, LATE)).as("free while another is waited for").isTrue();
        passer.rollback();
      }

      assertThatThrownBy(() -> locking.get(60, SECONDS))
          .cause()
          .isInstanceOfSatisfying(
              SQLException.class, e -> assertThat(database.classify(e)).isEqualTo(Failure.BLOCKED));
    } finally {
      threads.shutdownNow();
    }
  }

  private static boolean locksAtOnce(Connection connection, String counter) throws SQLException {
    connection.setAutoCommit(false);
    try (PreparedStatement select =
        connection.prepareStatement(
            "SELECT name FROM pawl_counter WHERE name = ? FOR UPDATE NOWAIT")) {
      select.setString(1, counter);
      try (ResultSet row = select.executeQuery()) {
        return row.next();
      }
    } catch (SQLException e) {
      return false;
    }
  }
}
