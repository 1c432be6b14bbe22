package io.pawl.sql;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.error.StoreConfigurationException;
import io.pawl.servers.ServerProcess;
import io.pawl.spi.Claim;
import io.pawl.spi.Inspectable.ClaimView;
import io.pawl.spi.StoreUrl;
import io.pawl.spi.Stores;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Whatever the connection's session is set to. */
class SessionSettingsTest {

  private static final AtomicInteger names = new AtomicInteger();

  private final String name = "session-" + names.incrementAndGet();

  private static String farAway(TestDatabase database) {
    return database == TestDatabase.POSTGRES
        ? "&options=-c%20TimeZone=Asia/Tokyo"
        : "&sessionVariables=time_zone='-09:00'";
  }

  /** Twice: by a transaction, and by the shortcut of a lock that is known to be idle. */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void theTimeZoneOfAConnectionChangesNothing(TestDatabase database) throws Exception {
    StoreUrl there = StoreUrl.parse(database.url() + farAway(database));
    try (SqlStore near = database.open();
        SqlStore far = (SqlStore) Stores.open(there)) {
      for (SqlStore store : new SqlStore[] {near, far, far, near, near}) {
        SqlStore other = store == near ? far : near;
        Claim claim = Claims.claim(name);
        store.attempt(claim, standing -> {}).toCompletableFuture().get(60, SECONDS);
        for (SqlStore each : new SqlStore[] {store, other}) {
          ClaimView held = Stored.show(each, name).holders().get(0);
          assertThat(Duration.between(held.since(), held.until())).isEqualTo(claim.lease());
          assertThat(Duration.between(held.since(), java.time.Instant.now()).abs())
              .isLessThan(Duration.ofMinutes(10));
        }
        assertThat(other.renew(java.util.List.of(claim)).toCompletableFuture().get(60, SECONDS))
            .containsKey(claim.id());
        store.withdraw(claim).toCompletableFuture().get(60, SECONDS);
      }
    }
  }

  /** MySQL has one time-out for both, which is 5 s in a transaction. */
  @Test
  void aSessionThatLiesIdleIsKeptForLongerThanOneThatStandsStillInATransaction() throws Exception {
    try (Connection watch = TestDatabase.MYSQL.connect()) {
      Set<Long> others = sessionsIdleFor(watch, Duration.ZERO);
      try (Pawl pawl = Pawl.connect(TestDatabase.MYSQL.url())) {
        pawl.lock(name).acquire().close();
        pawl.counter(name + "-counter").add(1);
        await()
            .atMost(Duration.ofMinutes(1))
            .until(
                () -> {
                  Set<Long> idle = sessionsIdleFor(watch, Duration.ofSeconds(9));
                  idle.removeAll(others);
                  return idle.size() == 2;
                });
      }
    }
  }

  private static Set<Long> sessionsIdleFor(Connection connection, Duration least)
      throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet sessions =
            statement.executeQuery(
                "SELECT id FROM information_schema.processlist"
                    + " WHERE command = 'Sleep' AND time >= "
                    + least.toSeconds())) {
      Set<Long> ids = new HashSet<>();
      while (sessions.next()) {
        ids.add(sessions.getLong(1));
      }
      return ids;
    }
  }

  /** What was acknowledged is seen by others, who stand on other connections. */
  @ParameterizedTest
  @EnumSource(names = {"MYSQL", "MARIADB"})
  void aServerThatCommitsNothingByItselfChangesNothing(TestDatabase database) {
    try (ServerProcess server = database.startServer("--autocommit=0", "--completion-type=CHAIN");
        Pawl here = Pawl.connect(TestDatabase.withUser(TestDatabase.urlOf(server)));
        Pawl there = Pawl.connect(TestDatabase.withUser(TestDatabase.urlOf(server)))) {
      for (int turn = 0; turn < 3; turn++) {
        Lease first = here.lock(name).tryAcquire().orElseThrow();
        assertThat(there.inspect(name).holders()).hasSize(1);
        first.close();
        Lease next = there.lock(name).tryAcquire().orElseThrow();
        assertThat(next.token()).isGreaterThan(first.token());
        next.close();
      }
    }
  }

  /** Where they are cut short, who waits is not seen and a batch finds no rows. */
  @ParameterizedTest
  @EnumSource(names = {"MYSQL", "MARIADB"})
  void p6_someoneGetsIn_limitsForPeopleCutNoAnswerShort(TestDatabase database) throws Exception {
    String limits = "&sessionVariables=sql_select_limit=1,sql_safe_updates=1,max_join_size=1";
    try (SqlStore store = (SqlStore) Stores.open(StoreUrl.parse(database.url() + limits))) {
      for (int i = 0; i < 3; i++) {
        store.attempt(Claims.claim(name), standing -> {}).toCompletableFuture().get(60, SECONDS);
      }

      assertThat(Stored.show(store, name).holders()).hasSize(1);
      assertThat(Stored.show(store, name).waiters()).hasSize(2);
    }
  }

  /** Several rows are locked in order by the statement before their update. */
  @Test
  void statementsOfOneTextAreOneTransactionOnPostgres() throws Exception {
    try (Connection connection = TestDatabase.POSTGRES.connect();
        PreparedStatement both =
            connection.prepareStatement("SELECT txid_current(), ?; SELECT txid_current(), ?")) {
      for (int i = 0; i < 10; i++) { // at first by the text, then as a prepared statement
        both.setInt(1, i);
        both.setInt(2, i);
        both.execute();
        String first = transaction(both.getResultSet());
        assertThat(both.getMoreResults()).isTrue();
        assertThat(transaction(both.getResultSet())).isEqualTo(first);
      }
    }
  }

  private static String transaction(ResultSet row) throws SQLException {
    row.next();
    return row.getString(1);
  }

  /** Else locks are listed, purged and raised as if there were none. */
  @Test
  void aConnectionToWhichEmptyTextsAreNoneIsRefused() {
    String url = TestDatabase.MARIADB.url() + "&sessionVariables=sql_mode='EMPTY_STRING_IS_NULL'";
    assertThatThrownBy(() -> Pawl.connect(url))
        .isInstanceOf(StoreConfigurationException.class)
        .hasMessageContaining("sql_mode");
  }

  @Test
  void aServerThatPutsTextsTogetherAsOracleDoesIsRefused() {
    try (ServerProcess server = TestDatabase.MARIADB.startServer("--sql-mode=ORACLE")) {
      String url = TestDatabase.withUser(TestDatabase.urlOf(server));
      assertThatThrownBy(() -> Pawl.connect(url))
          .isInstanceOf(StoreConfigurationException.class)
          .hasMessageContaining("sql_mode");
    }
  }

  @Test
  void aConnectionThatLosesCharactersIsRefused() {
    assertThatThrownBy(
            () -> Pawl.connect(TestDatabase.MYSQL.url() + "&characterEncoding=ISO-8859-1"))
        .isInstanceOf(StoreConfigurationException.class)
        .hasMessageContaining("Unicode");
  }
}
