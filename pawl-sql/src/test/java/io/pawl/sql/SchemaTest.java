package io.pawl.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.Pawl;
import io.pawl.error.StoreConfigurationException;
import io.pawl.error.StoreDeniedException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.spi.Diagnosable.Finding;
import io.pawl.spi.Diagnosable.Level;
import io.pawl.spi.QuorumNode.Incarnation;
import io.pawl.spi.SchemaSource;
import io.pawl.spi.Standing;
import io.pawl.spi.StoreUrl;
import io.pawl.spi.Stores;
import io.pawl.sql.dialect.Schema;
import java.nio.file.Files;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tables, privileges, and what people are told about them. */
class SchemaTest {

  /** The common pool has a single thread on two cores, on which one task would wait for another. */
  private static final Executor POOL = task -> new Thread(task).start();

  private static final AtomicInteger names = new AtomicInteger();

  private String place = "place" + names.incrementAndGet();

  /** The URL of another empty database (PostgreSQL: schema) of this test's own. */
  private String emptyPlace(TestDatabase database) throws SQLException {
    place = "place" + names.incrementAndGet();
    try (Connection connection = database.connect();
        Statement statement = connection.createStatement()) {
      boolean postgres = database == TestDatabase.POSTGRES;
      String what = postgres ? "SCHEMA " : "DATABASE ";
      statement.execute("DROP " + what + "IF EXISTS " + place + (postgres ? " CASCADE" : ""));
      statement.execute("CREATE " + what + place);
    }
    return database == TestDatabase.POSTGRES
        ? database.baseUrl() + "?currentSchema=" + place
        : database.baseUrl().replaceFirst("/pawl\\b", "/" + place);
  }

  private static String as(String url, String user, String password) {
    return TestDatabase.withUser(url, user, password);
  }

  private String userWithoutCreate(TestDatabase database) throws SQLException {
    String user = "user_" + place;
    try (Connection connection = database.connect();
        Statement statement = connection.createStatement()) {
      if (database == TestDatabase.POSTGRES) {
        statement.execute("CREATE USER " + user + " PASSWORD 'x'");
        statement.execute("GRANT USAGE ON SCHEMA " + place + " TO " + user);
        statement.execute(
            "ALTER DEFAULT PRIVILEGES IN SCHEMA "
                + place
                + " GRANT SELECT, INSERT, UPDATE ON TABLES TO "
                + user);
      } else {
        statement.execute("CREATE USER " + user + " IDENTIFIED BY 'x'");
        statement.execute("GRANT SELECT, INSERT, UPDATE ON " + place + ".* TO " + user);
      }
    }
    return user;
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void anAccountThatMayNotCreateTablesIsToldWhatToRun(TestDatabase database) throws Exception {
    String url = emptyPlace(database);
    String asUser = as(url, userWithoutCreate(database), "x");
    String ddl = ddl(database);

    assertThatThrownBy(() -> Pawl.connect(asUser))
        .isInstanceOf(StoreDeniedException.class)
        .hasMessageContaining(ddl);

    try (Connection connection = java.sql.DriverManager.getConnection(asAdmin(url));
        Statement statement = connection.createStatement()) {
      for (int twice = 0; twice < 2; twice++) {
        for (String sql : ddl.replaceAll("--[^\n]*", "").split(";\\s*(\n|$)")) {
          statement.execute(sql);
        }
      }
    }
    try (Pawl pawl = Pawl.connect(asUser)) {
      pawl.lock("x").acquire().close();
    }
  }

  private static String asAdmin(String url) {
    return as(url, TestDatabase.USER, TestDatabase.PASSWORD);
  }

  /** Eight logins at once take longer than a client waits where a machine is busy enough. */
  private static String patient(TestDatabase database, String url) {
    return url
        + (database == TestDatabase.POSTGRES
            ? "&connectTimeout=60&loginTimeout=60"
            : "&connectTimeout=60000&socketTimeout=60000");
  }

  private static String ddl(TestDatabase database) {
    return new Schema(schema(database), true).ddl(0);
  }

  private static String schema(TestDatabase database) {
    return database == TestDatabase.POSTGRES
        ? "postgresql"
        : database.name().toLowerCase(Locale.ROOT);
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void tablesAreNotCreatedWhereThatIsForbidden(TestDatabase database) throws Exception {
    String url = asAdmin(emptyPlace(database));
    assertThatThrownBy(() -> Pawl.connect(url + "&pawl.createTables=false"))
        .isInstanceOf(StoreConfigurationException.class)
        .hasMessageContaining(ddl(database));
    Pawl.connect(url).close();
    Pawl.connect(url + "&pawl.createTables=false").close();
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void manyClientsMayCreateTheTablesAtOnce(TestDatabase database) throws Exception {
    for (int round = 0; round < 10; round++) {
      String url = patient(database, asAdmin(emptyPlace(database)));
      List<CompletableFuture<Void>> opening = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        opening.add(CompletableFuture.runAsync(() -> Pawl.connect(url).close(), POOL));
      }
      CompletableFuture.allOf(opening.toArray(CompletableFuture[]::new)).join();
    }
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void tablesThatANewerPawlShutsOlderOnesOutOfAreLeftAlone(TestDatabase database) throws Exception {
    String url = asAdmin(emptyPlace(database));
    Pawl.connect(url).close();
    execute(url, "INSERT INTO pawl_schema (version, usable_by) VALUES (99, 98)");
    assertThatThrownBy(() -> Pawl.connect(url))
        .isInstanceOf(StoreConfigurationException.class)
        .hasMessageContaining("99")
        .hasMessageContaining("98 at least");
    assertThatThrownBy(() -> SqlSchema.apply(StoreUrl.parse(url)))
        .isInstanceOf(StoreConfigurationException.class)
        .hasMessageContaining("99");
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void tablesFromBeforeTheFirstReleaseAreRefused(TestDatabase database) throws Exception {
    String url = asAdmin(emptyPlace(database));
    execute(url, "CREATE TABLE pawl_schema (version INT NOT NULL PRIMARY KEY)");
    execute(url, "INSERT INTO pawl_schema (version) VALUES (2)");
    assertThatThrownBy(() -> Pawl.connect(url))
        .isInstanceOf(StoreConfigurationException.class)
        .hasMessageContaining("drop all tables pawl_*");
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void clientsWorkOnWhileTheNextVersionBringsTheirTablesUpToDate(TestDatabase database)
      throws Exception {
    String url = asAdmin(emptyPlace(database));
    int now = new Schema(schema(database), true).version();
    Schema next = new Schema(schema(database), true, now + 1);
    AtomicBoolean done = new AtomicBoolean();
    try (Pawl before = Pawl.connect(url)) {
      before.lock("x").acquire().close();
      before.counter("n").add(1);
      CompletableFuture<Long> work = CompletableFuture.supplyAsync(() -> use(before, done), POOL);
      List<CompletableFuture<Void>> upgrades = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        upgrades.add(CompletableFuture.runAsync(() -> upgrade(url, next), POOL));
      }
      CompletableFuture.allOf(upgrades.toArray(CompletableFuture[]::new)).join();
      done.set(true);
      execute(url, "UPDATE pawl_lock SET tenant = 'x'");
      long rounds = work.join();
      assertThat(before.counter("n").get()).isEqualTo(1 + rounds);
      try (Pawl after = Pawl.connect(url)) {
        long token = after.lock("x").acquire().token();
        assertThat(token).isGreaterThan(rounds);
        assertThat(after.counter("n").add(1).value()).isEqualTo(2 + rounds);
      }
    }
  }

  /** Locks and counts until {@code done}, and once more; returns how often. */
  private static long use(Pawl pawl, AtomicBoolean done) {
    long rounds = 0;
    for (boolean last = false; !last; rounds++) {
      last = done.get();
      pawl.lock("x").acquireUninterruptibly().close();
      pawl.lock("y" + rounds).acquireUninterruptibly().close();
      pawl.counter("n").add(1);
    }
    return rounds;
  }

  private static void upgrade(String url, Schema next) {
    for (int tries = 1; ; tries++) {
      try (Connection connection = java.sql.DriverManager.getConnection(url)) {
        next.prepare(connection);
        return;
      } catch (SQLException e) {
        boolean inTheWay = Set.of("40P01", "40001", "23505", "55P03").contains(e.getSQLState());
        assertThat(inTheWay && tries < 20).as(e.toString()).isTrue();
      }
    }
  }

  private static void execute(String url, String sql) throws SQLException {
    try (Connection connection = java.sql.DriverManager.getConnection(url);
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  @ParameterizedTest
  @EnumSource
  void theProviderPrintsTheTablesWithoutAServerAndCreatesThemAnyNumberOfTimes(TestDatabase database)
      throws Exception {
    StoreUrl url =
        StoreUrl.parse(
            database == TestDatabase.SQLITE ? database.url() : asAdmin(emptyPlace(database)));
    SchemaSource source = (SchemaSource) Stores.provider(url);

    assertThat(source.schema(url)).isEqualTo(ddl(database));
    source.createSchema(url);
    source.createSchema(url);

    try (Pawl pawl = Pawl.connect(url.secret())) {
      pawl.lock("x").acquire().close();
    }
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void anAccountThatMayNotCreateTablesIsDenied(TestDatabase database) throws Exception {
    String url = emptyPlace(database);
    String asUser = as(url, userWithoutCreate(database), "x");

    assertThatThrownBy(() -> SqlSchema.apply(StoreUrl.parse(asUser)))
        .isInstanceOf(StoreDeniedException.class);
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void aPersonCanReadTheRow(TestDatabase database) throws Exception {
    String name = "räd " + place;
    try (Pawl pawl = Pawl.connect(database.url());
        Connection connection = database.connect();
        Statement statement = connection.createStatement()) {
      long token = pawl.lock(name).acquire().token();
      try (ResultSet row =
          statement.executeQuery(
              "SELECT name, last_token, holders, withdrawn, kind FROM pawl_lock WHERE name = '"
                  + name
                  + "'")) {
        assertThat(row.next()).isTrue();
        assertThat(row.getString(1)).isEqualTo(name);
        assertThat(row.getLong(2)).isEqualTo(token);
        assertThat(row.getString(3))
            .contains("\"token\":" + token, "\"since\":\"20", "\"until\":\"20", "\"host\":");
        assertThat(row.getString(4)).isEqualTo("[]");
        assertThat(row.getString(5)).isEqualTo("lock");
      }
    }
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void theDoctorNamesATableThatIsMissing(TestDatabase database) throws Exception {
    String url = asAdmin(emptyPlace(database));
    Pawl.connect(url).close();
    execute(url, "DROP TABLE pawl_waiter");

    try (SqlStore store = (SqlStore) Stores.open(StoreUrl.parse(url))) {
      assertThat(store.diagnose())
          .filteredOn(finding -> finding.level() == Level.PROBLEM)
          .extracting(Finding::what)
          .anyMatch(what -> what.contains("table pawl_waiter cannot be read"));
    }
  }

  /** As one of a large table is. */
  @Test
  void aStatementThatTakesLongerThanAnAnswerOtherwiseMayIsWaitedFor() throws Exception {
    String url = asAdmin(emptyPlace(TestDatabase.POSTGRES));
    execute(
        url,
        "CREATE FUNCTION dawdle() RETURNS event_trigger LANGUAGE plpgsql AS"
            + " $$ BEGIN IF current_schema() = '"
            + place
            + "' AND current_query() LIKE '%pawl_lock (%' THEN PERFORM pg_sleep(5); END IF; END $$;"
            + " CREATE EVENT TRIGGER dawdle ON ddl_command_start EXECUTE FUNCTION dawdle()");
    try {
      SqlSchema.apply(StoreUrl.parse(url + "&options=-c%20statement_timeout=4500"));
    } finally {
      execute(url, "DROP EVENT TRIGGER dawdle");
    }
    Pawl.connect(url + "&pawl.createTables=false").close();
  }

  /** Else all clients would wait behind it. */
  @Test
  void p6_someoneGetsIn_aStatementThatWaitsForOthersGivesUpSoon() throws Exception {
    String url = asAdmin(emptyPlace(TestDatabase.POSTGRES));
    try (Connection somebody = DriverManager.getConnection(url);
        Statement statement = somebody.createStatement()) {
      somebody.setAutoCommit(false);
      statement.execute("CREATE TABLE pawl_lock (name text)");

      assertThatThrownBy(() -> SqlSchema.apply(StoreUrl.parse(url)))
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageContaining("lock timeout");
      somebody.rollback();
    }
    SqlSchema.apply(StoreUrl.parse(url));
  }

  @ParameterizedTest
  @EnumSource(names = {"MYSQL", "MARIADB"})
  void p6_someoneGetsIn_aUrlThatForbidsSeveralStatementsInOneTripIsServed(TestDatabase database)
      throws Exception {
    for (String forbidden : List.of("allowMultiQueries=false", "allowmultiqueries=False")) {
      try (Pawl pawl = Pawl.connect(database.url() + "&" + forbidden + "&useUnicode=true")) {
        pawl.lock("several").acquire().close();
        pawl.counter("several statements").add(1);
      }
    }
  }

  /** As an ALTER by hand, or a restore that was cut short, leaves them. */
  @ParameterizedTest
  @EnumSource
  void theDoctorNamesEachColumnThatIsMissing(TestDatabase database) throws Exception {
    String url = ownPlace(database);
    try (SqlStore store = (SqlStore) Stores.open(StoreUrl.parse(url));
        Connection connection = DriverManager.getConnection(jdbc(url))) {
      assertThat(problems(store)).noneMatch(what -> what.startsWith("table "));
      List<String> columns = columns(connection);
      assertThat(columns).hasSize(7 + 3 + 8 + 10 + 3 + 3);
      for (String column : columns) {
        String table = column.substring(0, column.indexOf('.'));
        String name = column.substring(table.length() + 1);
        rename(connection, table, name, "elsewhere");
        assertThat(problems(store))
            .as(column)
            .anyMatch(what -> what.startsWith("table " + table + " cannot be read"));
        rename(connection, table, "elsewhere", name);
      }
      assertThat(problems(store)).noneMatch(what -> what.startsWith("table "));
    }
  }

  /** MySQL and MariaDB fail without one that a statement forces, others become slow. */
  @ParameterizedTest
  @EnumSource
  void theDoctorNamesEachIndexThatIsMissing(TestDatabase database) throws Exception {
    String url = ownPlace(database);
    try (SqlStore store = (SqlStore) Stores.open(StoreUrl.parse(url));
        Connection connection = DriverManager.getConnection(jdbc(url));
        Statement statement = connection.createStatement()) {
      boolean named = database == TestDatabase.POSTGRES || database == TestDatabase.SQLITE;
      for (String table : List.of("pawl_waiter", "pawl_ledger")) {
        String index = table + (table.equals("pawl_waiter") ? "_by_lock" : "_by_line");
        statement.execute("DROP INDEX " + index + (named ? "" : " ON " + table));
        assertThat(problems(store)).contains("table " + table + " has no index " + index);
      }
      if (database != TestDatabase.SQLITE) {
        String key =
            database == TestDatabase.POSTGRES ? "CONSTRAINT pawl_lock_pkey" : "PRIMARY KEY";
        statement.execute("ALTER TABLE pawl_lock DROP " + key);
        assertThat(problems(store)).contains("table pawl_lock has no primary key");
      }
    }
  }

  private String ownPlace(TestDatabase database) throws Exception {
    return database == TestDatabase.SQLITE
        ? "sqlite:" + Files.createTempDirectory("pawl-schema").resolve("locks.db")
        : asAdmin(emptyPlace(database));
  }

  private static String jdbc(String url) {
    return url.startsWith("sqlite:") ? "jdbc:" + url : url;
  }

  private static List<String> problems(SqlStore store) {
    return store.diagnose().stream()
        .filter(finding -> finding.level() == Level.PROBLEM)
        .map(Finding::what)
        .toList();
  }

  /** Of the tables that locks and counters use, each as {@code table.column}. */
  private static List<String> columns(Connection connection) throws SQLException {
    List<String> columns = new ArrayList<>();
    try (Statement statement = connection.createStatement()) {
      for (String table :
          List.of("lock", "waiter", "counter", "ledger", "reservation", "forgotten")) {
        try (ResultSet none = statement.executeQuery("SELECT * FROM pawl_" + table)) {
          for (int i = 1; i <= none.getMetaData().getColumnCount(); i++) {
            columns.add("pawl_" + table + "." + none.getMetaData().getColumnName(i));
          }
        }
      }
    }
    return columns;
  }

  private static void rename(Connection connection, String table, String from, String to)
      throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute("ALTER TABLE " + table + " RENAME COLUMN " + from + " TO " + to);
    }
  }

  /** As a dump of another kind of server leaves them, or whoever converts a whole database. */
  @ParameterizedTest
  @EnumSource(names = {"MYSQL", "MARIADB"})
  void p7_conservation_tablesToWhichTwoNamesAreOneAreRefusedAndNamed(TestDatabase database)
      throws Exception {
    String url = asAdmin(emptyPlace(database));
    try (SqlStore store = (SqlStore) Stores.open(StoreUrl.parse(url))) {
      execute(
          url,
          "ALTER TABLE pawl_counter CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci");

      assertThat(store.diagnose())
          .filteredOn(finding -> finding.level() == Level.PROBLEM)
          .extracting(Finding::what)
          .anyMatch(what -> what.contains("table pawl_counter compares names as"));
    }
    assertThatThrownBy(() -> Pawl.connect(url).close())
        .isInstanceOf(StoreConfigurationException.class)
        .hasMessageContaining("pawl_counter compares names as utf8mb4_general_ci");
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void theDoctorFindsNothingToMend(TestDatabase database) {
    try (SqlStore store = database.open()) {
      assertThat(store.diagnose())
          .isNotEmpty()
          .filteredOn(
              finding -> !finding.what().contains("flush") && !finding.what().contains("sync"))
          .allSatisfy(finding -> assertThat(finding.fix()).isEmpty());
    }
  }

  /** It was raised by somebody else since this client found it new, and has voted. */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void aDatabaseThatIsMadeAnewStaysOutOfItsQuorumAnew(TestDatabase database) throws Exception {
    String url = asAdmin(emptyPlace(database));
    try (SqlStore node = (SqlStore) Stores.open(StoreUrl.parse(url));
        SqlStore other = (SqlStore) Stores.open(StoreUrl.parse(url))) {
      node.joinQuorum(Duration.ofMinutes(1));
      other.joinQuorum(Duration.ofMinutes(1));
      Incarnation first = node.incarnation().toCompletableFuture().join();
      other.trust().toCompletableFuture().join();
      assertThat(node.attempt(Claims.claim("known"), standing -> {}).toCompletableFuture().join())
          .isInstanceOf(Standing.Held.class);

      makeTablesAnew(url);

      assertThat(node.attempt(Claims.claim("new"), standing -> {}))
          .failsWithin(Duration.ofMinutes(1))
          .withThrowableThat()
          .withMessageContaining("votes");
      Incarnation anew = node.incarnation().toCompletableFuture().join();
      assertThat(anew.raised()).isFalse();
      assertThat(anew.since()).isNotEqualTo(first.since());
    }
  }

  private static void makeTablesAnew(String url) throws SQLException {
    try (Connection connection = DriverManager.getConnection(url);
        Statement statement = connection.createStatement()) {
      for (String table :
          List.of("lock", "waiter", "counter", "ledger", "reservation", "forgotten", "schema")) {
        statement.execute("DROP TABLE pawl_" + table);
      }
    }
    SqlSchema.apply(StoreUrl.parse(url));
  }
}
