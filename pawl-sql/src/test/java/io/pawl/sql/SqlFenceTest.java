package io.pawl.sql;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.error.StaleTokenException;
import io.pawl.options.LockOptions;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class SqlFenceTest {

  /** The common pool has a single thread on two cores, on which one task would wait for another. */
  private static final Executor OWN_THREAD = task -> new Thread(task).start();

  private static final AtomicInteger names = new AtomicInteger();
  private static final String UPDATE =
      "UPDATE account SET balance = ?, fence = :token WHERE name = ? AND fence <= :token";

  private static final Duration FOR_EVER = Duration.ofSeconds(Long.MAX_VALUE);

  private final String name = "fence-" + names.incrementAndGet();

  private Connection account(TestDatabase database) throws SQLException {
    Connection connection = database.connect();
    try (Statement statement = connection.createStatement()) {
      statement.execute(
          "CREATE TABLE IF NOT EXISTS account"
              + " (name VARCHAR(100) PRIMARY KEY, balance INT, fence BIGINT)");
      statement.execute("INSERT INTO account VALUES ('" + name + "', 0, 0)");
    }
    return connection;
  }

  private int balance(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row =
            statement.executeQuery("SELECT balance FROM account WHERE name = '" + name + "'")) {
      row.next();
      return row.getInt(1);
    }
  }

  /** The holder is paused, so to speak: its lease is not renewed and it never looks at it. */
  @ParameterizedTest
  @EnumSource
  void theWriteOfAPausedHolderIsRefused(TestDatabase database) throws Exception {
    LockOptions brief = LockOptions.defaults().lease(Duration.ofMillis(300)).renewal(false);
    try (Connection connection = account(database);
        Pawl pawl = Pawl.connect(database.url());
        Pawl other = Pawl.connect(database.url())) {
      Lease paused = pawl.lock(name, brief).acquire();
      Lease next = other.lock(name).tryAcquire(Duration.ofSeconds(60)).orElseThrow();
      assertThat(SqlFence.update(connection, next.token(), UPDATE, 2, name)).isEqualTo(1);

      assertThatThrownBy(() -> SqlFence.update(connection, paused.token(), UPDATE, 1, name))
          .isInstanceOfSatisfying(
              StaleTokenException.class,
              stale -> assertThat(stale.token()).isEqualTo(paused.token()));

      assertThat(balance(connection)).isEqualTo(2);
      assertThat(SqlFence.update(connection, next.token(), UPDATE, 3, name)).isEqualTo(1);
      next.close();
    }
  }

  @ParameterizedTest
  @EnumSource
  void theTransactionOfAPausedHolderIsRefused(TestDatabase database) throws Exception {
    try (Connection connection = account(database);
        Statement statement = connection.createStatement()) {
      SqlFence.createTable(connection);
      connection.setAutoCommit(false);
      for (long token : new long[] {41, 43, 43, 50}) {
        SqlFence.check(connection, name, token);
        statement.execute("UPDATE account SET balance = " + token + " WHERE name = '" + name + "'");
        connection.commit();
      }
      assertThatThrownBy(() -> SqlFence.check(connection, name, 49))
          .isInstanceOf(StaleTokenException.class)
          .hasMessageContaining("49")
          .hasMessageContaining(name);
      connection.rollback();
      assertThat(balance(connection)).isEqualTo(50);
      SqlFence.check(connection, name + " ", 1);
      SqlFence.check(connection, name.toUpperCase(java.util.Locale.ROOT), 1);
      connection.rollback();
    }
  }

  @ParameterizedTest
  @EnumSource
  void aTransactionThatWasRolledBackLeavesNoToken(TestDatabase database) throws Exception {
    try (Connection connection = account(database)) {
      SqlFence.createTable(connection);
      connection.setAutoCommit(false);
      SqlFence.check(connection, name, 9);
      connection.rollback();
      SqlFence.check(connection, name, 3);
      connection.commit();
    }
  }

  /** Else the database cuts it, or writes another character, and two resources are one. */
  @ParameterizedTest
  @EnumSource
  void aNameThatIsNoneIsRefusedBeforeItIsSent(TestDatabase database) throws Exception {
    try (Connection connection = database.connect()) {
      SqlFence.createTable(connection);
      connection.setAutoCommit(false);
      SqlFence.check(connection, "ü".repeat(256), 1);
      for (String none : List.of("", "ü".repeat(257), name + "\uD800", name + "\0")) {
        assertThatThrownBy(() -> SqlFence.check(connection, none, 1))
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessageStartingWith("resource");
      }
      connection.rollback();
    }
  }

  /** Its holder was let through and then paused before its commit. */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void aLaterHolderWaitsForATransactionThatWasLetThrough(TestDatabase database) throws Exception {
    try (Connection earlier = account(database);
        Connection later = database.connect()) {
      SqlFence.createTable(earlier);
      earlier.setAutoCommit(false);
      later.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
      later.setAutoCommit(false);
      SqlFence.check(earlier, name, 1);
      CompletableFuture<Integer> seenByLater =
          CompletableFuture.supplyAsync(() -> checkAndRead(later, 2), OWN_THREAD);
      try (Statement statement = earlier.createStatement()) {
        statement.execute("UPDATE account SET balance = 1 WHERE name = '" + name + "'");
      }
      assertThat(seenByLater).isNotDone();
      earlier.commit();
      assertThat(seenByLater.get(60, SECONDS)).isEqualTo(1);
      later.commit();
      assertThatThrownBy(() -> SqlFence.check(earlier, name, 1))
          .isInstanceOf(StaleTokenException.class);
    }
  }

  /**
   * The earlier holder's second transaction locks the row and does not change it, so that
   * PostgreSQL itself sees no conflict.
   */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void aLaterHolderNeverReadsFromBeforeAnAcceptedTransaction(TestDatabase database)
      throws Exception {
    try (Connection earlier = account(database);
        Connection later = database.connect();
        Statement statement = earlier.createStatement()) {
      SqlFence.createTable(earlier);
      earlier.setAutoCommit(false);
      SqlFence.check(earlier, name, 1);
      earlier.commit();
      SqlFence.check(earlier, name, 1);
      statement.execute("UPDATE account SET balance = 1 WHERE name = '" + name + "'");
      later.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
      later.setAutoCommit(false);
      CompletableFuture<Integer> seenByLater =
          CompletableFuture.supplyAsync(() -> checkAndRead(later, 2), OWN_THREAD);
      await().until(() -> database.waitingTransactions() > 0);
      earlier.commit();

      if (database == TestDatabase.POSTGRES) {
        assertThatThrownBy(() -> seenByLater.get(60, SECONDS))
            .hasRootCauseInstanceOf(IllegalStateException.class)
            .rootCause()
            .hasMessageContaining("repeatable read")
            .hasMessageContaining("READ COMMITTED");
        later.rollback();
        SqlFence.check(earlier, name, 2);
        earlier.commit();
        assertThat(checkAndRead(later, 2)).isEqualTo(1);
      } else {
        assertThat(seenByLater.get(60, SECONDS)).isEqualTo(1);
      }
      later.rollback();
    }
  }

  @Test
  void aTransactionWithASnapshotIsRefusedANewTokenBeforeAnythingGoesWrong() throws Exception {
    try (Connection connection = account(TestDatabase.POSTGRES)) {
      SqlFence.createTable(connection);
      connection.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
      connection.setAutoCommit(false);
      assertThatThrownBy(() -> SqlFence.check(connection, name, 7))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("serializable")
          .hasMessageContaining("READ COMMITTED");
      connection.rollback();
      connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
      SqlFence.check(connection, name, 3);
      connection.rollback();
    }
  }

  /** One holder has several, one inside the other; the fence of the outer one is older. */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void aTokenMayBeComparedAgainByATransactionWithAnOlderSnapshot(TestDatabase database)
      throws Exception {
    try (Connection outer = account(database);
        Connection inner = database.connect()) {
      SqlFence.createTable(outer);
      inner.setAutoCommit(false);
      SqlFence.check(inner, name, 1);
      inner.commit();
      outer.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
      outer.setAutoCommit(false);
      assertThat(balance(outer)).isZero();
      SqlFence.check(inner, name, 1);
      inner.commit();
      SqlFence.check(outer, name, 1);
      outer.commit();
    }
  }

  private int checkAndRead(Connection connection, long token) {
    try {
      SqlFence.check(connection, name, token);
      return balance(connection);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  @ParameterizedTest
  @EnumSource
  void patienceMayBeLongerThanDriversCount(TestDatabase database) throws Exception {
    try (Connection connection = account(database)) {
      SqlFence.createTable(connection);
      connection.setAutoCommit(false);
      for (Duration patience :
          List.of(Duration.ofDays(30), Duration.ofSeconds(Integer.MAX_VALUE), FOR_EVER)) {
        SqlFence.check(connection, name, 2, patience);
        assertThatThrownBy(() -> SqlFence.check(connection, name, 1, patience))
            .isInstanceOf(StaleTokenException.class);
      }
      assertThatThrownBy(() -> SqlFence.check(connection, name, 2, Duration.ofSeconds(-1)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("patience");
      connection.rollback();
    }
  }

  @ParameterizedTest
  @EnumSource
  void whatWouldGuardNothingIsRefused(TestDatabase database) throws Exception {
    try (Connection connection = account(database)) {
      assertThatThrownBy(() -> SqlFence.check(connection, name, 1))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("autocommit");
      for (String sql :
          new String[] {
            "UPDATE account SET balance = 1",
            "UPDATE account SET balance = 1, fence = :token",
            "UPDATE account SET balance = 1 WHERE fence <= :token",
            "UPDATE account SET balance = 1, fence = :tokens WHERE fence <= :token"
          }) {
        assertThatThrownBy(() -> SqlFence.update(connection, 1, sql))
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessageContaining(sql);
      }
      assertThat(balance(connection)).isZero();
    }
  }
}
