package io.pawl.sql.dialect;

import io.pawl.error.StoreConfigurationException;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Diagnosable.Finding;
import io.pawl.spi.rule.LockState.Grant;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.UUID;
import java.util.stream.Collectors;
import org.postgresql.PGConnection;

/**
 * PostgreSQL from 13. Transactions begin and end in SQL, on connections in autocommit, and change
 * no setting of a session that may be another's next: a pool or pooler has nothing to restore.
 *
 * <p><b>Time.</b> {@code clock_timestamp()} is when it is evaluated, which in the select list of a
 * locking read is before the lock; hence the outer SELECT around it.
 */
public final class PostgresDialect implements Dialect {

  private static final String CLOCK = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

  private static final String BEGIN = "BEGIN ISOLATION LEVEL READ COMMITTED; ";

  /** For those without a BEGIN. */
  private static final String READ_COMMITTED = "default_transaction_isolation = 'read committed'";

  private static final String ROW_WAIT = "lock_timeout = '1s'";

  /**
   * A row lock or an idle transaction of a stopped process delays others by no more than this. A
   * role's own time-outs would end what only waits its turn.
   */
  private static final List<String> SETTINGS =
      List.of(ROW_WAIT, "statement_timeout = '10s'", "idle_in_transaction_session_timeout = '5s'");

  /** What a stopped process does not read is no idle transaction. */
  private static final String UNREAD = "tcp_user_timeout = '4s'";

  /**
   * Then transactions may have a time-out, which for one that has begun cannot be set but ended.
   */
  private static final int TIMES_TRANSACTIONS = 17;

  private static final String NO_TIME_OUT = "transaction_timeout = 0";

  private static final String BY_INDEX =
      "SET LOCAL enable_bitmapscan = off; SET LOCAL enable_seqscan = off; ";

  private static final String TIME =
      "to_char((statement_timestamp() + ?::float8 * interval '1 millisecond') AT TIME ZONE 'UTC',"
          + " 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"')";

  private final Schema schema;
  private final boolean listens;
  private final String settings;
  private final Frame frame;
  private volatile boolean pooled;

  /**
   * @param version the server's first number
   */
  PostgresDialect(boolean createsTables, boolean listens, int version) {
    List<String> all = new ArrayList<>(SETTINGS);
    if (version >= TIMES_TRANSACTIONS) {
      all.add(NO_TIME_OUT);
    }
    this.settings =
        setAll("SET SESSION ", all) + "SET SESSION " + UNREAD + "; SET SESSION " + READ_COMMITTED;
    this.frame = new Frame(BEGIN + setAll("SET LOCAL ", all), true);
    this.schema = new Schema("postgresql", createsTables);
    this.listens = listens;
  }

  @Override
  public String schema() {
    return schema.database();
  }

  @Override
  public boolean beginsInSql() {
    return true;
  }

  /**
   * A session that is a writer's own has the settings; behind a pooler, and on a connection of the
   * application, each transaction has. They are worth their statements, since they are no trip.
   */
  @Override
  public Frame setUpWriter(Connection connection) throws SQLException {
    if (isPooled(connection)) {
      return frame();
    }
    execute(connection, settings);
    return new Frame(BEGIN, false); // statements of one text are one transaction
  }

  /** A session behind a pooler is left as it is. */
  @Override
  public void setUpForTables(Connection connection) throws SQLException {
    if (!isPooled(connection)) {
      execute(connection, "SET SESSION " + ROW_WAIT + "; SET SESSION statement_timeout = 0");
    }
  }

  @Override
  public Frame frame() {
    return frame;
  }

  private static String setAll(String set, List<String> settings) {
    return settings.stream().map(setting -> set + setting + "; ").collect(Collectors.joining());
  }

  @Override
  public int jdbcIsolation() {
    return Connection.TRANSACTION_NONE;
  }

  @Override
  public int rowsPerStatement() {
    return MAX_ROWS;
  }

  @Override
  public String lockRows(Table table, int n, boolean waits) {
    return "SELECT locked.*, "
        + CLOCK
        + " FROM ("
        + "SELECT "
        + table.columns()
        + " FROM "
        + table.name()
        + " WHERE "
        + table.key().get(0)
        + " IN ("
        + Table.repeated("?", n)
        + ")"
        + " ORDER BY "
        + table.key().get(0)
        + " FOR UPDATE"
        + (waits ? "" : " SKIP LOCKED")
        + ") AS locked";
  }

  /**
   * Most rows of {@link Table#WAITER} are deleted soon. An index scan passes over those that an
   * earlier one has met; the other scans meet all again until there is a vacuum. What comes after
   * it in the transaction goes by keys anyway; counters have statements that do not.
   */
  @Override
  public String readWaiters(int n) {
    return BY_INDEX + Dialect.super.readWaiters(n);
  }

  @Override
  public String clock() {
    return CLOCK;
  }

  @Override
  public String utcNow() {
    return "statement_timestamp() AT TIME ZONE 'UTC'";
  }

  @Override
  public void failSoonIfMade(Connection writer, Table table, Collection<String> names)
      throws SQLException {
    execute(writer, "SET LOCAL lock_timeout = '20ms'");
  }

  @Override
  public void waitAsUsual(Connection writer) throws SQLException {
    execute(writer, "SET LOCAL " + ROW_WAIT);
  }

  private static void execute(Connection writer, String sql) throws SQLException {
    try (Statement statement = writer.createStatement()) {
      statement.execute(sql);
    }
  }

  @Override
  public String insertMissing(Table table, int n) {
    return table.insert(n) + " ON CONFLICT DO NOTHING";
  }

  @Override
  public String insertLocks(int n) {
    return selectNewLocks(n) + " ON CONFLICT DO NOTHING";
  }

  @Override
  public String upsert(Table table, int n) {
    return table.insert(n) + table.onConflictReplace();
  }

  @Override
  public String locksBeforeUpdate(int n) {
    return n == 1
        ? ""
        : "SELECT 1 FROM pawl_lock WHERE name IN ("
            + Table.repeated("?", n)
            + ") ORDER BY name FOR UPDATE; ";
  }

  @Override
  public String textWithTimes(String last) {
    return "? || " + TIME + " || ? || " + TIME + " || " + last;
  }

  @Override
  public long now(Connection reader) throws SQLException {
    return Long.parseLong(ask(reader, "SELECT " + CLOCK));
  }

  /** Part of the protocol, with any connection. */
  @Override
  public boolean takesSeveralStatements() {
    return true;
  }

  /** One NOTIFY for each claim, on the channel of its client; as many as a SELECT has columns. */
  @Override
  public void announce(Connection writer, Collection<Grant> grants) throws SQLException {
    List<Grant> all = List.copyOf(grants);
    for (int from = 0; from < all.size(); from += MAX_ROWS) {
      announceSome(writer, all.subList(from, Math.min(all.size(), from + MAX_ROWS)));
    }
  }

  private static void announceSome(Connection writer, List<Grant> grants) throws SQLException {
    String sql = "SELECT " + Table.repeated("pg_notify(?, ?)", grants.size());
    try (PreparedStatement notify = writer.prepareStatement(sql)) {
      int parameter = 1;
      for (Grant grant : grants) {
        notify.setString(parameter++, channel(grant.id()));
        notify.setString(parameter++, grant.id().toString());
      }
      notify.execute();
    }
  }

  /** A client's channel: a name of at most 63 bytes, whatever the client's own length. */
  public static String channel(ClaimId id) {
    byte[] client = id.client().getBytes(StandardCharsets.UTF_8);
    return "pawl_" + UUID.nameUUIDFromBytes(client);
  }

  @Override
  public boolean notifies() {
    return listens && !pooled;
  }

  /**
   * Whether a pooler stands between: the process that it names as ours is not the one that answers.
   * What is heard there for one client may be delivered to another, or to nobody.
   */
  private static boolean isPooled(Connection connection) throws SQLException {
    if (!connection.isWrapperFor(PGConnection.class)) {
      return true;
    }
    int named = connection.unwrap(PGConnection.class).getBackendPID();
    return !ask(connection, "SELECT pg_backend_pid()").equals(Integer.toString(named));
  }

  @Override
  public void prepare(Connection writer) throws SQLException {
    if (ask(writer, "SELECT pg_is_in_recovery()").equals("t")) {
      throw new StoreConfigurationException("the server is a read-only standby; name the primary");
    }
    Schema.checkUnicode(writer);
    schema.prepare(writer);
    pooled = listens && isPooled(writer);
  }

  @Override
  public Failure classify(SQLException failure) {
    return switch (String.valueOf(failure.getSQLState())) {
      case "55000" -> Failure.UNAVAILABLE; // the database accepts no connections for now
      case "57014" -> Failure.INTERRUPTED; // by an administrator or a time-out
      case "08004" -> Failure.DENIED; // the driver has no password, or cannot authenticate
      default -> SqlStates.classify(failure);
    };
  }

  /** Whether a pooler was noticed between. */
  boolean isPooled() {
    return pooled;
  }

  @Override
  public List<Finding> diagnose(Connection reader) throws SQLException {
    return PostgresFindings.of(reader, this);
  }

  private static String ask(Connection connection, String query) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet answer = statement.executeQuery(query)) {
      answer.next();
      return answer.getString(1);
    }
  }
}
