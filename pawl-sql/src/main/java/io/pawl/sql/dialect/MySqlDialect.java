package io.pawl.sql.dialect;

import io.pawl.error.StoreConfigurationException;
import io.pawl.spi.Diagnosable.Finding;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * MySQL 8.0 and later, MariaDB 10.11 and later, with InnoDB.
 *
 * <p><b>Time.</b> {@code NOW()} is when a statement began, which may be long before it got its row
 * locks, and depends on the session's time zone. {@code UTC_TIMESTAMP()} began then too, in UTC;
 * {@code SYSDATE()} is when it is evaluated, for each row after its lock was taken, in the
 * session's time zone. So the time is the UTC start, and what has passed since. If daylight saving
 * time begins or ends meanwhile, the difference is off by that; every offset is a multiple of 15
 * minutes, and no statement takes half of that, so that the difference is the one within 7.5
 * minutes of 0.
 */
public final class MySqlDialect implements Dialect {

  private static final int WAIT_SECONDS = 1;

  private static final String CLOCK =
      "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000"
          + " + MOD(TIMESTAMPDIFF(MICROSECOND, NOW(3), SYSDATE(3)) DIV 1000 + 86850000, 900000)"
          + " - 450000";

  private static final String TIME =
      "LEFT(DATE_FORMAT(UTC_TIMESTAMP(3) + INTERVAL ? * 1000 MICROSECOND,"
          + " '%Y-%m-%dT%H:%i:%s.%f'), 23), 'Z'";

  private static final String BEGIN = "START TRANSACTION; ";

  private static final String SET_UP =
      "SET SESSION innodb_lock_wait_timeout = 1, SESSION net_write_timeout = 4, SESSION ";

  /**
   * What MariaDB says differently.
   *
   * @param timeLimit the setting that ends a statement, 0 for none
   */
  private record Words(
      String schema,
      String inserted,
      String alias,
      String share,
      String timeLimit,
      String setUp,
      Frame frame) {}

  private static final Words MYSQL =
      new Words(
          "mysql",
          "new.%s",
          " AS new",
          "FOR SHARE",
          "max_execution_time",
          SET_UP + "wait_timeout = 15",
          new Frame(
              "SET SESSION wait_timeout = 5; " + BEGIN,
              BEGIN,
              "SET SESSION wait_timeout = 15",
              false));

  private static final Words MARIADB =
      new Words(
          "mariadb",
          "VALUES(%s)",
          "",
          "LOCK IN SHARE MODE",
          "max_statement_time",
          SET_UP + "idle_transaction_timeout = 5",
          new Frame(BEGIN, false));

  private final Words words;
  private final boolean ours;
  private final Schema schema;

  /** Whether no server that a connection of ours was to has been without one. */
  private volatile boolean hasBinaryLog = true;

  private MySqlDialect(Words words, boolean ours, boolean createsTables) {
    this.words = words;
    this.ours = ours;
    this.schema = new Schema(words.schema, createsTables);
  }

  /**
   * @param ours whether connections are the store's own, and so take several statements at once
   */
  public static MySqlDialect mySql(boolean ours, boolean createsTables) {
    return new MySqlDialect(MYSQL, ours, createsTables);
  }

  /** As {@link #mySql}. */
  public static MySqlDialect mariaDb(boolean ours, boolean createsTables) {
    return new MySqlDialect(MARIADB, ours, createsTables);
  }

  /** So that a guarded update is a statement in autocommit, without a COMMIT. */
  @Override
  public boolean beginsInSql() {
    return ours;
  }

  @Override
  public String schema() {
    return words.schema;
  }

  /**
   * A row that somebody keeps locked is waited for 1 s, then the batch goes on without it; a
   * stopped transaction of our own is ended by the server, so that others go on, in the middle of
   * an answer too. MySQL has no time-out for idle transactions. So that of idle sessions is short
   * while there are any.
   */
  @Override
  public Frame setUpWriter(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(words.setUp);
    }
    return words.frame;
  }

  /**
   * By default they wait for 50 s, and for a table for a year, on the server even after our own
   * time-out, and keep all rows locked that come before. A server's own time limit would end them
   * sooner, and not say that they waited for a row.
   */
  @Override
  public @Nullable String boundRowWaits(Connection writer) throws SQLException {
    try (Statement statement = writer.createStatement()) {
      int rowSeconds;
      int tableSeconds;
      String limit;
      try (ResultSet setting =
          statement.executeQuery(
              "SELECT @@innodb_lock_wait_timeout, @@lock_wait_timeout, @@" + words.timeLimit)) {
        setting.next();
        rowSeconds = setting.getInt(1);
        tableSeconds = setting.getInt(2);
        limit = setting.getString(3);
      }
      if (Math.max(rowSeconds, tableSeconds) <= WAIT_SECONDS && Double.parseDouble(limit) == 0) {
        return null;
      }
      statement.execute(
          waits(Math.min(rowSeconds, WAIT_SECONDS), Math.min(tableSeconds, WAIT_SECONDS), "0"));
      return waits(rowSeconds, tableSeconds, limit);
    }
  }

  private String waits(int rowSeconds, int tableSeconds, String limit) {
    return "SET SESSION innodb_lock_wait_timeout = "
        + rowSeconds
        + ", SESSION lock_wait_timeout = "
        + tableSeconds
        + ", SESSION "
        + words.timeLimit
        + " = "
        + limit;
  }

  /**
   * Statements that stand alone have to be committed. Where a server says {@code autocommit = OFF},
   * MySQL's driver takes its sessions for committing ones and sends nothing. See {@link
   * #boundRowWaits} for the time limit, and for tables that a backup or a DDL statement has locked.
   * What keeps people from large answers and changes would cut ours short, unsaid.
   *
   * <p>Each connection may be to another server, after a switch-over.
   */
  @Override
  public void setUp(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(
          "SET SESSION autocommit = 1, SESSION completion_type = 'NO_CHAIN',"
              + " SESSION lock_wait_timeout = 1, SESSION sql_select_limit = 18446744073709551615,"
              + " SESSION sql_safe_updates = 0, SESSION sql_big_selects = 1, SESSION "
              + words.timeLimit
              + " = 0");
      try (ResultSet answer = statement.executeQuery("SELECT @@log_bin")) {
        answer.next();
        if (!answer.getBoolean(1)) {
          hasBinaryLog = false;
        }
      }
    }
  }

  @Override
  public int jdbcIsolation() {
    return Connection.TRANSACTION_READ_COMMITTED;
  }

  @Override
  public int rowsPerStatement() {
    return MAX_ROWS;
  }

  /** The index is forced, since a scan would wait for rows that nobody asked for. */
  @Override
  public String lockRows(Table table, int n, boolean waits) {
    return "SELECT "
        + table.columns()
        + ", "
        + CLOCK
        + " FROM "
        + table.name()
        + " FORCE INDEX (PRIMARY) WHERE "
        + table.key().get(0)
        + " IN ("
        + Table.repeated("?", n)
        + ")"
        + " ORDER BY "
        + table.key().get(0)
        + " FOR UPDATE"
        + (waits ? "" : " SKIP LOCKED");
  }

  @Override
  public String clock() {
    return CLOCK;
  }

  @Override
  public String utcNow() {
    return "UTC_TIMESTAMP(3)";
  }

  @Override
  public String by(String index) {
    return " FORCE INDEX (" + index + ")";
  }

  /** As text, so that no setting of a driver cuts it. */
  @Override
  public void bindTime(PreparedStatement statement, int parameter, long millis)
      throws SQLException {
    statement.setString(parameter, IsoMillis.sortable(millis).replace("Z", ""));
  }

  @Override
  public String shareUnlessLocked() {
    return words.share + " SKIP LOCKED";
  }

  /** See {@link #lockRows}. */
  @Override
  public String deleteWaiters(int n) {
    return "DELETE w FROM pawl_waiter AS w FORCE INDEX (PRIMARY) WHERE w.position IN ("
        + Table.repeated("?", n)
        + ")";
  }

  /** See {@link #lockRows}. */
  @Override
  public String deleteByKey(String table) {
    return "DELETE " + table + " FROM " + table + " FORCE INDEX (PRIMARY)";
  }

  /** Waits for rows are counted in seconds, so that none is waited for. */
  @Override
  public void failSoonIfMade(Connection writer, Table table, Collection<String> names)
      throws SQLException {
    String select = lockRows(table, names.size(), true) + " NOWAIT";
    try (PreparedStatement locked = writer.prepareStatement(select)) {
      int parameter = 1;
      for (String name : names) {
        locked.setString(parameter++, name);
      }
      locked.execute();
    }
  }

  @Override
  public String insertMissing(Table table, int n) {
    String key = table.key().get(0);
    return table.insert(n) + " ON DUPLICATE KEY UPDATE " + key + " = " + table.name() + "." + key;
  }

  @Override
  public String insertLocks(int n) {
    return selectNewLocks(n) + " ON DUPLICATE KEY UPDATE name = pawl_lock.name";
  }

  @Override
  public String upsert(Table table, int n) {
    StringBuilder sql = new StringBuilder(table.insert(n)).append(words.alias);
    String separator = " ON DUPLICATE KEY UPDATE ";
    for (String column : table.others()) {
      sql.append(separator).append(column).append(" = ");
      sql.append(String.format(words.inserted, column));
      separator = ", ";
    }
    return sql.toString();
  }

  /** See {@link #lockRows}. */
  @Override
  public String updateByName() {
    return "UPDATE pawl_lock FORCE INDEX (PRIMARY)";
  }

  @Override
  public String textWithTimes(String last) {
    return "CONCAT(?, " + TIME + ", ?, " + TIME + ", " + last + ")";
  }

  @Override
  public long now(Connection reader) throws SQLException {
    try (Statement statement = reader.createStatement();
        ResultSet time = statement.executeQuery("SELECT " + CLOCK)) {
      time.next();
      return time.getLong(1);
    }
  }

  /** Ours say so in their URL. */
  @Override
  public boolean takesSeveralStatements() {
    return ours;
  }

  @Override
  public void prepare(Connection writer) throws SQLException {
    checkServer(writer);
    Schema.checkUnicode(writer);
    schema.prepare(writer);
    checkCollations(writer);
  }

  /** Where two names are one to the database, counters overwrite each other. */
  private static void checkCollations(Connection writer) throws SQLException {
    try (Statement statement = writer.createStatement();
        ResultSet wrong = statement.executeQuery(MySqlFindings.WRONG_COLLATIONS)) {
      if (wrong.next()) {
        throw new StoreConfigurationException(
            MySqlFindings.wrongCollation(wrong.getString(1), wrong.getString(2))
                + "; "
                + MySqlFindings.COLLATE);
      }
    }
  }

  private void checkServer(Connection writer) throws SQLException {
    try (Statement statement = writer.createStatement();
        ResultSet answer =
            statement.executeQuery(
                "SELECT SLEEP(0.002), SYSDATE(6) <> NOW(6), CONCAT('x', NULL) IS NULL,"
                    + " '' IS NOT NULL")) {
      answer.next();
      if (!answer.getBoolean(2)) {
        throw new StoreConfigurationException(
            "the server runs with sysdate-is-now, so that no statement can tell the time at which"
                + " it got its locks; start it without");
      }
      if (!answer.getBoolean(3)) {
        throw new StoreConfigurationException(
            "sql_mode is ORACLE, under which CONCAT leaves out what is NULL; connect with another"
                + " sql_mode, say by sessionVariables of the driver's URL");
      }
      if (!answer.getBoolean(4)) {
        throw new StoreConfigurationException(
            "sql_mode has EMPTY_STRING_IS_NULL, under which no name is greater than ''; connect with"
                + " another sql_mode, say by sessionVariables of the driver's URL");
      }
    }
  }

  /**
   * InnoDB lets others see a transaction, and flushes its own log then. With a binary log all of it
   * is in the logs before, for the sake of both to agree. A pool does not say to which server its
   * connections are.
   */
  @Override
  public boolean showsBeforeItKeeps() {
    return !ours || !hasBinaryLog;
  }

  @Override
  public Failure classify(SQLException failure) {
    return switch (failure.getErrorCode()) {
      case 1205, 3572 -> Failure.BLOCKED;
      // duplicate key, deadlock, record changed
      case 1062, 1213, 1020 -> Failure.CONFLICT;
      case 1317 -> Failure.INTERRUPTED;
      // too many connections, shutting down, error during COMMIT, connection killed, timeouts,
      // offline mode, a group that a member has left, and the drivers' own
      case 1040, 1053, 1180, 1203, 1226, 1927, 1969, 2006, 2013, 3024, 3032, 3100, 3169, 4031 ->
          Failure.UNAVAILABLE;
      case 2003 -> Failure.UNAVAILABLE; // a router reaches no server
      case 1044, 1045, 1142, 1143, 1227, 1370, 1410, 1698, 3118 -> Failure.DENIED;
      case 1290, 1792, 1836 -> Failure.READ_ONLY; // by option, transaction, engine
      // no such database or table; a binary log that needs more isolation
      case 1049, 1146, 1665 -> Failure.UNUSABLE;
      default -> SqlStates.classify(failure);
    };
  }

  @Override
  public List<Finding> diagnose(Connection reader) throws SQLException {
    return MySqlFindings.of(reader, this);
  }
}
