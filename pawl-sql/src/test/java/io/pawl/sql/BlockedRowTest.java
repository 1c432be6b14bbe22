package io.pawl.sql;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.pawl.Pawl;
import io.pawl.error.StoreUnavailableException;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Inspectable.ClaimView;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import io.pawl.spi.StoreUrl;
import io.pawl.spi.Stores;
import io.pawl.sql.dialect.Database;
import io.pawl.sql.dialect.Databases;
import io.pawl.sql.dialect.Table;
import io.pawl.sql.transaction.Session;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Somebody has a transaction open in which one row of ours is locked. */
class BlockedRowTest {

  private static final int OTHERS = 10;

  private static final AtomicInteger names = new AtomicInteger();

  private final String stuck = "blocked-" + names.incrementAndGet();

  private static Standing attempt(SqlStore store, Claim claim) throws Exception {
    return store.attempt(claim, standing -> {}).toCompletableFuture().get(60, SECONDS);
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void aBlockedRowStallsNoOtherLockOfTheClientAndSaysSo(TestDatabase database) throws Exception {
    try (SqlStore store = database.open()) {
      assertOnlyTheBlockedOneIsStalled(database, store);
    }
  }

  /** So it neither locks the row nor writes it. */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void aWaiterIsToldHowItStandsThoughSomebodyKeepsTheRow(TestDatabase database) throws Exception {
    try (SqlStore store = database.open();
        Connection somebody = database.connect()) {
      Claim held = Claims.claim(stuck);
      Claim waiting = Claims.claim(stuck);
      assertThat(attempt(store, held)).isInstanceOf(Standing.Held.class);
      assertThat(attempt(store, waiting)).isInstanceOf(Standing.Waiting.class);
      lockRow(somebody, stuck);

      assertThat(renew(store, List.of(waiting)).get(waiting.id()))
          .isInstanceOf(Standing.Waiting.class);

      somebody.rollback();
      store.withdraw(held).toCompletableFuture().get(60, SECONDS);
      assertThat(renew(store, List.of(waiting)).get(waiting.id()))
          .isInstanceOf(Standing.Held.class);
    }
  }

  /** By a row of its own, where it knows that the lock is busy and looks for itself. */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void aClaimJoinsOrIsTurnedAwayThoughSomebodyKeepsTheRow(TestDatabase database) throws Exception {
    String polling = database == TestDatabase.POSTGRES ? "&pawl.listen=false" : "";
    try (SqlStore store = (SqlStore) Stores.open(StoreUrl.parse(database.url() + polling));
        Connection somebody = database.connect()) {
      Claim held = Claims.claim(stuck);
      Claim joining = Claims.claim(stuck);
      assertThat(attempt(store, held)).isInstanceOf(Standing.Held.class);
      lockRow(somebody, stuck);

      assertThat(attempt(store, joining)).isInstanceOf(Standing.Waiting.class);
      assertThat(attempt(store, Claims.claim(stuck).as(Mode.EXCLUSIVE))).isEqualTo(Standing.GONE);

      assertThat(Stored.waiters(store, stuck))
          .extracting(ClaimView::id)
          .containsExactly(joining.id());
      somebody.rollback();
      store.withdraw(held).toCompletableFuture().get(60, SECONDS);
      assertThat(renew(store, List.of(joining)).get(joining.id()))
          .isInstanceOf(Standing.Held.class);
    }
  }

  /** Whose connections would wait for longer than we wait for an answer. */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void aBlockedRowStallsNoOtherLockOverAPoolEither(TestDatabase database) throws Exception {
    try (HikariDataSource pool = new HikariDataSource()) {
      pool.setJdbcUrl(database.baseUrl());
      pool.setUsername(TestDatabase.USER);
      pool.setPassword(TestDatabase.PASSWORD);
      pool.setMaximumPoolSize(1);
      try (SqlStore store = SqlStore.over(pool)) {
        assertOnlyTheBlockedOneIsStalled(database, store);
      }
    }
  }

  /** All that is asserted of the others is so before the row is set free. */
  private void assertOnlyTheBlockedOneIsStalled(TestDatabase database, SqlStore store)
      throws Exception {
    ExecutorService threads = Executors.newCachedThreadPool();
    try (Connection somebody = database.connect()) {
      Claim held = Claims.claim(stuck);
      Standing standing = attempt(store, held);
      lockRow(somebody, stuck);

      Claim unknown = Claims.claim(stuck);
      Future<?> asked =
          threads.submit(() -> store.withdraw(unknown).toCompletableFuture().get(60, SECONDS));
      List<Future<Standing>> others = new ArrayList<>();
      List<Claim> claims = new ArrayList<>(List.of(held));
      for (int i = 0; i < OTHERS; i++) {
        Claim claim = Claims.claim(stuck + "-" + i);
        claims.add(claim);
        others.add(threads.submit(() -> attempt(store, claim)));
      }
      for (Future<Standing> other : others) {
        assertThat(other.get(60, SECONDS)).isInstanceOf(Standing.Held.class);
      }
      assertThat(renew(store, claims))
          .as("renewed together, the blocked one left out")
          .hasSize(OTHERS)
          .doesNotContainKey(held.id())
          .allSatisfy((id, other) -> assertThat(other).isInstanceOf(Standing.Held.class));
      assertThatThrownBy(() -> asked.get(60, SECONDS))
          .hasRootCauseInstanceOf(StoreUnavailableException.class)
          .rootCause()
          .hasMessageContaining(stuck)
          .hasMessageContaining("locked");
      for (Claim claim : claims.subList(1, claims.size())) {
        store.withdraw(claim).toCompletableFuture().get(60, SECONDS);
      }

      Future<Standing> again = threads.submit(() -> attempt(store, held));
      somebody.rollback();
      assertThat(again.get(60, SECONDS)).as("still its own").isEqualTo(standing);
      assertThat(renew(store, claims)).containsEntry(held.id(), standing);
      assertCounted(store.figures());
    } finally {
      threads.shutdownNow();
    }
  }

  /** What an administrator watches: a request put off says that somebody keeps a row. */
  private static void assertCounted(Map<String, Long> figures) {
    assertThat(figures.get("locks.putOff"))
        .as("once for each request, however often the row is looked at")
        .isBetween(1L, 2L + OTHERS);
    assertThat(figures.get("locks.repeated")).isPositive();
    assertThat(figures.get("locks.requests")).isGreaterThan(2 * OTHERS);
    assertThat(figures.get("locks.batches")).isBetween(3L, figures.get("locks.requests"));
    assertThat(figures).containsEntry("counters.batches", 0L);
  }

  /** As a process does that was stopped between the two trips of a transaction. */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void aSessionOfOursThatStandsStillHoldsARowForNoLongerThanAClientIsPatient(TestDatabase database)
      throws Exception {
    Database same = Databases.at(JdbcProvider.connections(StoreUrl.parse(database.url())));
    try (Pawl pawl = Pawl.connect(database.url())) {
      pawl.lock(stuck).acquire().close();
      try (Session stopped = new Session(same)) {
        String lock = same.dialect().lockRows(Table.LOCK, 1, stopped.starts(), true);
        PreparedStatement select = stopped.prepare(lock);
        select.setString(1, stuck);
        assertThat(Session.query(select).next()).isTrue();

        pawl.lock(stuck).acquire().close();
      }
    }
  }

  private static Map<ClaimId, Standing> renew(SqlStore store, List<Claim> claims) throws Exception {
    return store.renew(claims).toCompletableFuture().get(60, SECONDS);
  }

  private static void lockRow(Connection connection, String lock) throws SQLException {
    connection.setAutoCommit(false);
    try (PreparedStatement select =
        connection.prepareStatement("SELECT name FROM pawl_lock WHERE name = ? FOR UPDATE")) {
      select.setString(1, lock);
      try (ResultSet row = select.executeQuery()) {
        assertThat(row.next()).isTrue();
      }
    }
  }
}
