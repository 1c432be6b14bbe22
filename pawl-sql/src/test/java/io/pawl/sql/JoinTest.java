package io.pawl.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.spi.Claim;
import io.pawl.sql.dialect.Database;
import io.pawl.sql.dialect.Dialect;
import io.pawl.sql.transaction.Session;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A claim that joins a queue in one statement, after its client has read the lock's row. Who gives
 * the lock back looks for waiters only where the row says that there are some.
 */
class JoinTest {

  private static final AtomicInteger names = new AtomicInteger();

  private final String name = "join-" + names.incrementAndGet();

  /** What somebody has done to the row since it was read. */
  private interface Meanwhile {
    void does(Connection somebody) throws Exception;
  }

  /** How many rows the join of a claim inserts, where one holds and another one waits. */
  private int joins(TestDatabase database, Meanwhile meanwhile) throws Exception {
    Database same = database.database();
    Dialect dialect = same.dialect();
    try (SqlStore store = database.open();
        Session session = new Session(same);
        Connection somebody = database.connect()) {
      for (Claim claim : new Claim[] {Claims.claim(name), Claims.claim(name)}) {
        store.attempt(claim, standing -> {}).toCompletableFuture().get(60, TimeUnit.SECONDS);
      }
      meanwhile.does(somebody);
      PreparedStatement join = session.prepare(session.alone(dialect.joinWaiters(1)));
      join.setString(1, name);
      join.setString(2, "[]");
      join.setString(3, name);
      join.setString(4, "[]");
      int inserted = session.runAlone(join, false);
      if (!somebody.getAutoCommit()) {
        somebody.rollback();
      }
      return inserted;
    }
  }

  private void update(Connection connection, String change) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      int rows =
          statement.executeUpdate(
              "UPDATE pawl_lock SET " + change + " WHERE name = '" + name + "'");
      assertThat(rows).isEqualTo(1);
    }
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void aClaimJoinsWhereOthersStand(TestDatabase database) throws Exception {
    assertThat(joins(database, somebody -> {})).isEqualTo(1);
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void nobodyJoinsAQueueThatIsEmptyByNow(TestDatabase database) throws Exception {
    assertThat(joins(database, somebody -> update(somebody, "queued = 0"))).isZero();
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void nobodyJoinsALockThatIsFreeByNow(TestDatabase database) throws Exception {
    assertThat(joins(database, somebody -> update(somebody, "holders = '[]'"))).isZero();
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void nobodyJoinsWhereAWithdrawalIsRememberedThatWasNotRead(TestDatabase database)
      throws Exception {
    assertThat(joins(database, somebody -> update(somebody, "withdrawn = '[1]'"))).isZero();
  }

  /** What others see of the row before the commit still says held, and queued. */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void nobodyJoinsALockThatIsBeingGivenBackNorWaitsForIt(TestDatabase database) throws Exception {
    Meanwhile givesBack =
        somebody -> {
          somebody.setAutoCommit(false);
          update(somebody, "holders = '[]', queued = 0");
        };
    assertThat(joins(database, givesBack)).isZero();
  }

  /** As another one does that joins. */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void claimsJoinBesideEachOther(TestDatabase database) throws Exception {
    Database same = database.database();
    Meanwhile reads =
        somebody -> {
          somebody.setAutoCommit(false);
          try (Statement statement = somebody.createStatement()) {
            statement.executeQuery(
                "SELECT 1 FROM pawl_lock WHERE name = '"
                    + name
                    + "' "
                    + same.dialect().shareUnlessLocked());
          }
        };
    assertThat(joins(database, reads)).isEqualTo(1);
  }
}
