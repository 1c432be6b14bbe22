package io.pawl.sql;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Inspectable.ClaimView;
import io.pawl.spi.Kind;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import io.pawl.spi.StoreUrl;
import io.pawl.spi.Stores;
import io.pawl.sql.dialect.Database;
import io.pawl.sql.dialect.Databases;
import io.pawl.sql.lock.LockRows;
import io.pawl.sql.lock.Shortcut;
import io.pawl.sql.transaction.Session;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A guess at what a row holds may be wrong, and then changes nothing. */
class ShortcutTest {

  private static final AtomicInteger names = new AtomicInteger();

  private final String name = "shortcut-" + names.incrementAndGet();

  private static Standing attempt(SqlStore store, Claim claim) throws Exception {
    return store.attempt(claim, standing -> {}).toCompletableFuture().get(60, SECONDS);
  }

  private static void withdraw(SqlStore store, Claim claim) throws Exception {
    store.withdraw(claim).toCompletableFuture().get(60, SECONDS);
  }

  private static long token(Standing standing) {
    return ((Standing.Held) standing).token();
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void aLockThatAnotherClientTookMeanwhileIsBusy(TestDatabase database) throws Exception {
    try (SqlStore here = database.open();
        SqlStore there = database.open()) {
      Claim first = Claims.claim(name);
      attempt(here, first);
      withdraw(here, first);
      Claim other = Claims.claim(name);
      long token = token(attempt(there, other));
      Claim second = Claims.claim(name);
      assertThat(attempt(here, second)).isInstanceOf(Standing.Waiting.class);
      withdraw(there, other);
      assertThat(token(attempt(here, second))).isGreaterThan(token);
    }
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void p2_tokensOnlyGrow_whatIsTakenAndGivenBackAtOnceUsesItsToken(TestDatabase database)
      throws Exception {
    try (SqlStore store = database.open()) {
      Claim before = Claims.claim(name);
      attempt(store, before);
      withdraw(store, before);
      Claim brief = Claims.claim(name);
      List<CompletionStage<?>> both = new ArrayList<>();

      store.together(
          () -> {
            both.add(store.attempt(brief, standing -> {}));
            both.add(store.withdraw(brief));
          });

      Standing held = (Standing) both.get(0).toCompletableFuture().get(60, SECONDS);
      both.get(1).toCompletableFuture().get(60, SECONDS);
      assertThat(token(attempt(store, Claims.claim(name)))).isGreaterThan(token(held));
    }
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void aReleaseNeverEndsTheHoldOfSomeoneLater(TestDatabase database) throws Exception {
    try (SqlStore here = database.open();
        SqlStore there = database.open()) {
      Claim first = Claims.claim(name);
      long token = token(attempt(here, first));
      there.evict(name, token).toCompletableFuture().get(60, SECONDS);
      Claim later = Claims.claim(name);
      Standing held = attempt(there, later);
      withdraw(here, first);
      assertThat(attempt(there, later)).isEqualTo(held);
    }
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void aReleaseServesWhoeverStoodInLineMeanwhile(TestDatabase database) throws Exception {
    try (SqlStore here = database.open();
        SqlStore there = database.open()) {
      Claim first = Claims.claim(name);
      attempt(here, first);
      Claim waiter = Claims.claim(name);
      assertThat(attempt(there, waiter)).isInstanceOf(Standing.Waiting.class);
      withdraw(here, first);
      assertThat(attempt(there, waiter)).isInstanceOf(Standing.Held.class);
    }
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void anAttemptThatArrivesAfterItsWithdrawalIsRefused(TestDatabase database) throws Exception {
    try (SqlStore here = database.open();
        SqlStore there = database.open()) {
      Claim first = Claims.claim(name);
      attempt(here, first);
      withdraw(here, first);
      Claim late = Claims.claim(name);
      withdraw(there, late.asUnsettled());
      assertThat(attempt(here, late)).isEqualTo(Standing.GONE);
    }
  }

  /** Else an eviction grants its claim anew, and readers wait behind a writer that reads by now. */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void aJoinThatArrivesOnceMoreBringsNobodyBehindItsOwnHold(TestDatabase database)
      throws Exception {
    try (SqlStore here = database.open();
        SqlStore there = database.open();
        Connection connection = database.connect();
        Statement late = connection.createStatement()) {
      Claim writer = Claims.claim(name);
      long token = token(attempt(here, writer));
      Instant now = Instant.now();
      late.execute(Claims.join(name, writer.id(), now, now.plusSeconds(300)));

      attempt(here, writer.as(Mode.SHARED));
      Claim reader = Claims.reader(name);
      assertThat(attempt(there, reader)).isInstanceOf(Standing.Held.class);
      withdraw(there, reader);
      late.execute(Claims.join(name, writer.id(), now, now.plusSeconds(300)));
      assertThat(there.evict(name, token).toCompletableFuture().get(60, SECONDS)).isTrue();

      assertThat(attempt(there, Claims.claim(name))).isInstanceOf(Standing.Held.class);
    }
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void aLockThatBecameASemaphoreMeanwhileIsNotTaken(TestDatabase database) throws Exception {
    Kind semaphore = Kind.semaphore(3);
    try (SqlStore here = database.open();
        SqlStore there = database.open()) {
      Claim first = Claims.claim(name);
      attempt(here, first);
      withdraw(here, first);
      assertThat(there.setKind(name, semaphore).toCompletableFuture().get(60, SECONDS)).isTrue();
      assertThat(attempt(here, Claims.claim(name))).isEqualTo(new Standing.OtherKind(semaphore));
    }
  }

  /** Connector/J leaves fractions out of times where it is told so. */
  @Test
  void noSettingOfADriverCutsTimes() throws Exception {
    String url = TestDatabase.MYSQL.url() + "&sendFractionalSeconds=false";
    try (SqlStore store = (SqlStore) Stores.open(StoreUrl.parse(url))) {
      for (int i = 0; i < 20; i++) {
        attempt(store, Claims.claim(name));
      }
      assertThat(Stored.waiters(store, name))
          .hasSize(19)
          .anyMatch(view -> view.since().toEpochMilli() % 1000 != 0);
    }
  }

  /** The times that the database wrote are those that the rule reads. */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void whatAShortcutWroteIsReadLikeAnyOther(TestDatabase database) throws Exception {
    try (SqlStore store = database.open();
        Connection connection = database.connect()) {
      for (int i = 0; i < 3; i++) {
        Claim claim = Claims.claim(name);
        Standing held = attempt(store, claim);
        assertThat(attempt(store, claim)).as("the same claim again").isEqualTo(held);
        assertThat(Stored.show(store, name).holders())
            .singleElement()
            .satisfies(view -> assertThat(view.id()).isEqualTo(claim.id()));
        withdraw(store, claim);
        assertThat(Stored.show(store, name).holders()).isEmpty();
      }
      empty(connection);
      Claim claim = Claims.claim(name);
      assertThat(attempt(store, claim)).isInstanceOf(Standing.Held.class);
    }
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void aShortestHoldOutlastsAShortcut(TestDatabase database) throws Exception {
    try (SqlStore store = database.open()) {
      Claim before = Claims.claim(name);
      attempt(store, before);
      withdraw(store, before);
      Claim job = Claims.claim(name).withMinHold(Duration.ofHours(1));

      attempt(store, job);
      Duration kept = keptFor(store);
      withdraw(store, job);

      assertThat(kept).isEqualTo(Duration.ofHours(1));
      assertThat(keptFor(store)).isEqualTo(kept);
      assertThat(attempt(store, job)).isEqualTo(Standing.GONE);
      assertThat(attempt(store, Claims.claim(name))).isInstanceOf(Standing.Waiting.class);
    }
  }

  private Duration keptFor(SqlStore store) {
    ClaimView holder = Stored.show(store, name).holders().get(0);
    return Duration.between(holder.since(), holder.until());
  }

  /** Five rows, which is no power of two: one that an intruder has, the others of every kind. */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void eachOfManyChangesItsOwnRowAndNoneThatIsNotAsItMustBe(TestDatabase database)
      throws Exception {
    Database sessions = databaseOf(database);
    Session session = new Session(sessions);
    LockRows rows = new LockRows(session, sessions.dialect());
    try (SqlStore store = database.open()) {
      List<Shortcut> shortcuts = new ArrayList<>();
      List<Claim> next = new ArrayList<>();
      Claim intruder = Claims.claim(name + "-1");
      for (int i = 0; i < 5; i++) {
        Claim before = Claims.claim(name + "-" + i);
        long token = token(attempt(store, before));
        Claim claim = Claims.claim(before.lock());
        next.add(claim);
        Shortcut giveBack =
            Objects.requireNonNull(
                Shortcut.toGiveBack(new Shortcut.Known(token, before.id()), before));
        Shortcut take = Objects.requireNonNull(Shortcut.toTake(giveBack.known(), claim));
        if (i < 3) {
          withdraw(store, before);
        }
        shortcuts.add(i < 3 ? take : i == 3 ? giveBack : giveBack.and(take));
      }
      attempt(store, intruder);

      assertThat(rows.tryShortcuts(shortcuts)).isFalse();

      assertThat(holders(store))
          .containsExactly(
              next.get(0).id(), intruder.id(), next.get(2).id(), null, next.get(4).id());
      for (int i : new int[] {0, 2, 4}) {
        assertThat(attempt(store, next.get(i))).as("granted").isEqualTo(shortcuts.get(i).answer());
      }
      withdraw(store, intruder);
      List<Shortcut> backs = new ArrayList<>();
      for (int i : new int[] {0, 2, 4}) {
        long token = ((Standing.Held) shortcuts.get(i).answer()).token();
        backs.add(Shortcut.toGiveBack(new Shortcut.Known(token, next.get(i).id()), next.get(i)));
      }
      assertThat(rows.tryShortcuts(backs)).isTrue();
      assertThat(holders(store)).containsOnlyNulls();
    } finally {
      session.close();
    }
  }

  private static Database databaseOf(TestDatabase database) {
    return Databases.at(JdbcProvider.connections(StoreUrl.parse(database.url())));
  }

  private List<ClaimId> holders(SqlStore store) {
    List<ClaimId> holders = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      holders.add(
          Stored.show(store, name + "-" + i).holders().stream()
              .map(view -> view.id())
              .findFirst()
              .orElse(null));
    }
    return holders;
  }

  private void empty(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute("DELETE FROM pawl_lock WHERE name = '" + name + "'");
    }
  }
}
