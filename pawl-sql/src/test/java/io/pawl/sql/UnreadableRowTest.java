package io.pawl.sql;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.Pawl;
import io.pawl.error.StoreException;
import io.pawl.spi.Claim;
import io.pawl.spi.CounterRequest;
import io.pawl.spi.CounterView;
import io.pawl.spi.Inspectable.LockView;
import io.pawl.spi.Operation;
import io.pawl.spi.Standing;
import io.pawl.spi.StoreUrl;
import io.pawl.spi.Tokens;
import io.pawl.sql.counter.CounterCombiner;
import io.pawl.sql.counter.PendingOperation;
import io.pawl.sql.dialect.Database;
import io.pawl.sql.dialect.Databases;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** One row that was edited, or written by a newer Pawl, is the trouble of its own lock only. */
class UnreadableRowTest {

  private static final AtomicInteger names = new AtomicInteger();

  private final String broken = "unreadable-" + names.incrementAndGet();
  private final String sound = "readable-" + names.get();

  private @Nullable TestDatabase edited;

  /** All classes share the databases: a lock at its last token lets no other's be raised. */
  @AfterEach
  void forgetTheEditedRow() throws SQLException {
    if (edited != null) {
      execute(edited, "DELETE FROM pawl_lock WHERE name = '" + broken + "'");
    }
  }

  private static Standing attempt(SqlStore store, Claim claim) throws Exception {
    return attempt(store, claim, new CompletableFuture<>());
  }

  private static Standing attempt(SqlStore store, Claim claim, CompletableFuture<Standing> bell)
      throws Exception {
    return store.attempt(claim, bell::complete).toCompletableFuture().get(60, SECONDS);
  }

  private void edit(TestDatabase database, String lock, String set) throws SQLException {
    edited = database;
    execute(database, "UPDATE pawl_lock SET " + set + " WHERE name = '" + lock + "'");
  }

  private static void execute(TestDatabase database, String sql) throws SQLException {
    try (Connection connection =
            database == TestDatabase.SQLITE
                ? DriverManager.getConnection("jdbc:" + database.url())
                : database.connect();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private void breakRow(TestDatabase database, SqlStore store, Claim held) throws Exception {
    assertThat(attempt(store, held)).isInstanceOf(Standing.Held.class);
    String newer =
        "holders = REPLACE(holders, '\"mode\":\"exclusive\"', '\"mode\":\"of a newer Pawl\"')";
    edit(database, broken, names.get() % 2 == 0 ? "holders = '[{'" : newer);
  }

  @ParameterizedTest
  @EnumSource
  void onlyTheRequestsForItsLockFail(TestDatabase database) throws Exception {
    try (SqlStore store = database.open();
        SqlStore other = database.open()) {
      Claim brokenClaim = Claims.claim(broken);
      Claim soundClaim = Claims.claim(sound);
      breakRow(database, other, brokenClaim);
      assertThat(attempt(other, soundClaim)).isInstanceOf(Standing.Held.class);
      List<CompletionStage<?>> fail = new ArrayList<>();
      List<CompletionStage<?>> succeed = new ArrayList<>();

      store.together(
          () -> {
            fail.add(store.attempt(Claims.claim(broken), standing -> {}));
            fail.add(store.evict(broken, 1));
            fail.add(store.withdraw(brokenClaim));
            succeed.add(store.attempt(Claims.claim(sound), standing -> {}));
            succeed.add(store.evict(sound + "-2", 1));
          });

      for (CompletionStage<?> each : fail) {
        assertThatThrownBy(() -> each.toCompletableFuture().get(60, SECONDS))
            .hasCauseInstanceOf(StoreException.class)
            .hasMessageContaining("'" + broken + "'");
      }
      for (CompletionStage<?> each : succeed) {
        each.toCompletableFuture().get(60, SECONDS);
      }
      assertThat(
              store.renew(List.of(brokenClaim, soundClaim)).toCompletableFuture().get(60, SECONDS))
          .containsOnlyKeys(soundClaim.id());
      assertThat(store.list(10_000).toCompletableFuture().get(60, SECONDS))
          .extracting(LockView::name)
          .contains(sound)
          .doesNotContain(broken);
      assertThatThrownBy(() -> store.show(broken).toCompletableFuture().get(60, SECONDS))
          .hasMessageContaining("'" + broken + "'");
    }
  }

  @ParameterizedTest
  @EnumSource
  void onlyTheClaimsOfItsLockFailWhereItsTokensAreUsedUp(TestDatabase database) throws Exception {
    try (SqlStore store = database.open();
        SqlStore other = database.open()) {
      Claim first = Claims.claim(broken);
      Claim waiting = Claims.claim(broken);
      Claim soundClaim = Claims.claim(sound);
      assertThat(attempt(other, first)).isInstanceOf(Standing.Held.class);
      assertThat(attempt(store, waiting)).isInstanceOf(Standing.Waiting.class);
      assertThat(attempt(store, soundClaim)).isInstanceOf(Standing.Held.class);
      edit(database, broken, "last_token = " + Tokens.MAX + ", holders = '[]'");

      assertThat(store.renew(List.of(soundClaim, waiting)).toCompletableFuture().get(60, SECONDS))
          .containsKey(soundClaim.id());
      assertThat(store.list(10_000).toCompletableFuture().get(60, SECONDS))
          .extracting(LockView::name)
          .contains(sound);
    }
  }

  /** Both locks are as this client left them, so that they could be taken without a look. */
  @ParameterizedTest
  @EnumSource
  void onlyTheRequestThatTakesTheLockFailsWhereItsTokensAreUsedUp(TestDatabase database)
      throws Exception {
    try (SqlStore store = database.open()) {
      Claim soundClaim = Claims.claim(sound);
      Claim last = Claims.claim(broken);
      assertThat(attempt(store, soundClaim)).isInstanceOf(Standing.Held.class);
      store.withdraw(soundClaim).toCompletableFuture().get(60, SECONDS);
      assertThat(attempt(store, Claims.claim(broken))).isInstanceOf(Standing.Held.class);
      edit(database, broken, "last_token = " + (Tokens.MAX - 1) + ", holders = '[]'");
      assertThat(attempt(store, last)).isEqualTo(new Standing.Held(Tokens.MAX, Tokens.MAX));
      store.withdraw(last).toCompletableFuture().get(60, SECONDS);
      List<CompletionStage<Standing>> asked = new ArrayList<>();

      store.together(
          () -> {
            asked.add(store.attempt(Claims.claim(sound), standing -> {}));
            asked.add(store.attempt(Claims.claim(broken), standing -> {}));
          });

      assertThat(asked.get(0).toCompletableFuture().get(60, SECONDS))
          .isInstanceOf(Standing.Held.class);
      assertThatThrownBy(() -> asked.get(1).toCompletableFuture().get(60, SECONDS))
          .hasCauseInstanceOf(StoreException.class)
          .hasMessageContaining("'" + broken + "'");
    }
  }

  @ParameterizedTest
  @EnumSource
  void onlyTheRequestsForItsLockFailWhereSomebodyWhoWaitsCannotBeRead(TestDatabase database)
      throws Exception {
    try (SqlStore store = database.open();
        SqlStore other = database.open()) {
      assertThat(attempt(other, Claims.claim(broken))).isInstanceOf(Standing.Held.class);
      assertThat(attempt(other, Claims.claim(broken))).isInstanceOf(Standing.Waiting.class);
      execute(
          database, "UPDATE pawl_waiter SET claims = '[{}]' WHERE lock_name = '" + broken + "'");
      List<CompletionStage<Boolean>> asked = new ArrayList<>();

      store.together(
          () -> {
            asked.add(store.evict(broken, 2));
            asked.add(store.evict(sound, 1));
          });

      assertThatThrownBy(() -> asked.get(0).toCompletableFuture().get(60, SECONDS))
          .hasCauseInstanceOf(StoreException.class)
          .hasMessageContaining("'" + broken + "'");
      assertThat(asked.get(1).toCompletableFuture().get(60, SECONDS)).isFalse();
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"SQLITE", "POSTGRES"})
  void aCounterIsTheTroubleOfWhoeverAsksForItOnly(TestDatabase database) throws Exception {
    try (SqlStore store = database.open()) {
      for (String counter : List.of(broken, sound)) {
        CounterRequest add = CounterRequest.of(counter, "order", 0, new Operation.Add(1), true);
        store.apply(add).toCompletableFuture().get(60, SECONDS);
      }
      execute(
          database, "UPDATE pawl_counter SET kept_from = 'infinity' WHERE name = '" + broken + "'");

      assertThatThrownBy(() -> store.read(broken).toCompletableFuture().get(60, SECONDS))
          .hasCauseInstanceOf(StoreException.class)
          .hasMessageContaining("'" + broken + "'");
      assertThat(store.list("", 10_000).toCompletableFuture().get(60, SECONDS))
          .extracting(CounterView::name)
          .contains(sound)
          .doesNotContain(broken);
    }
  }

  /** A client takes a page that is not full for the last one. */
  @Test
  void aCounterIsLeftOutOfAListAndHidesNoneBehindItsPage(@TempDir Path folder) throws Exception {
    String url = "sqlite:" + folder.resolve("locks.db");
    try (Pawl pawl = Pawl.connect(url)) {
      pawl.counter("0001").add(1);
    }
    try (Connection connection = DriverManager.getConnection("jdbc:" + url);
        Statement statement = connection.createStatement()) {
      statement.execute(
          "WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 1002)"
              + " INSERT INTO pawl_counter SELECT printf('%04d', i), value, floor, ceiling,"
              + " reserved, forgotten, kept_from, last_line FROM n, pawl_counter");
      statement.execute("UPDATE pawl_counter SET kept_from = 'infinity' WHERE name = '0001'");
    }
    try (Pawl pawl = Pawl.connect(url)) {
      assertThat(pawl.maintenance().counters())
          .hasSize(1_001)
          .startsWith("0002")
          .endsWith("1001", "1002");
    }
  }

  @ParameterizedTest
  @EnumSource
  void othersAreRungForAllTheSame(TestDatabase database) throws Exception {
    try (SqlStore store = database.open();
        SqlStore other = database.open()) {
      Claim brokenClaim = Claims.claim(broken);
      Claim soundClaim = Claims.claim(sound);
      CompletableFuture<Standing> bell = new CompletableFuture<>();
      assertThat(attempt(other, brokenClaim)).isInstanceOf(Standing.Held.class);
      assertThat(attempt(other, soundClaim)).isInstanceOf(Standing.Held.class);
      assertThat(attempt(store, Claims.claim(broken))).isInstanceOf(Standing.Waiting.class);
      edit(database, broken, "holders = '[{', last_token = last_token + 1");
      assertThat(attempt(store, Claims.claim(sound), bell)).isInstanceOf(Standing.Waiting.class);

      other.withdraw(soundClaim).toCompletableFuture().get(60, SECONDS);

      assertThat(bell.get(60, SECONDS)).isInstanceOf(Standing.Held.class);
    }
  }

  @ParameterizedTest
  @EnumSource
  void tokensThatNobodyCanHaveAreTheTroubleOfTheirLockOnly(TestDatabase database) throws Exception {
    try (SqlStore store = database.open();
        SqlStore other = database.open()) {
      Claim holder = Claims.claim(broken);
      Claim waiting = Claims.claim(broken);
      Claim soundClaim = Claims.claim(sound);
      long token = ((Standing.Held) attempt(other, holder)).token();
      assertThat(attempt(store, waiting)).isInstanceOf(Standing.Waiting.class);
      assertThat(attempt(store, soundClaim)).isInstanceOf(Standing.Held.class);
      edit(
          database,
          broken,
          "holders = REPLACE(holders, '\"lastToken\":" + token + ",', '\"lastToken\":0,')");

      assertThat(
              store
                  .renew(List.of(soundClaim, holder, waiting))
                  .toCompletableFuture()
                  .get(60, SECONDS))
          .containsOnlyKeys(soundClaim.id());
      assertThatThrownBy(() -> store.evict(broken, 9).toCompletableFuture().get(60, SECONDS))
          .hasCauseInstanceOf(StoreException.class)
          .hasMessageContaining("'" + broken + "'");
    }
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void aLineOfALedgerIsTheTroubleOfWhoeverAsksForItOnly(TestDatabase database) throws Exception {
    Database server = Databases.at(JdbcProvider.connections(StoreUrl.parse(database.url())));
    CounterRequest lost = CounterRequest.of(broken, "order", 0, new Operation.Add(1), true);
    CounterRequest add = CounterRequest.of(sound, "order", 0, new Operation.Add(1), true);
    CounterRequest more = CounterRequest.of(broken, "more", 0, new Operation.Add(1), true);
    try (SqlStore store = database.open();
        CounterCombiner counters = new CounterCombiner(server, "pawl-test-counters");
        Connection connection = database.connect();
        Statement statement = connection.createStatement()) {
      store.apply(lost).toCompletableFuture().get(60, SECONDS);
      statement.execute(
          "UPDATE pawl_ledger SET operation = 'of a newer Pawl' WHERE counter = '" + broken + "'");
      PendingOperation.Change again = new PendingOperation.Change(lost);
      List<CompletableFuture<?>> succeed = new ArrayList<>();

      PendingOperation.Look first = new PendingOperation.Look(sound);
      first
          .answer()
          .thenRun(
              () -> {
                succeed.add(counters.submit(new PendingOperation.Change(add)));
                counters.submit(again);
                succeed.add(counters.submit(new PendingOperation.Change(more)));
              });
      counters.submit(first).get(60, SECONDS);

      assertThatThrownBy(() -> again.answer().get(60, SECONDS))
          .hasCauseInstanceOf(StoreException.class)
          .hasMessageContaining("'" + broken + "'");
      for (CompletableFuture<?> each : succeed) {
        each.get(60, SECONDS);
      }
      assertThat(store.read(sound).toCompletableFuture().get(60, SECONDS).orElseThrow().value())
          .isEqualTo(1);
    }
  }
}
