package io.pawl.sql.dialect;

import io.pawl.error.StoreConfigurationException;
import io.pawl.spi.Diagnosable.Finding;
import io.pawl.spi.Diagnosable.Level;
import io.pawl.sql.connection.Connections;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;
import org.sqlite.SQLiteConfig;
import org.sqlite.SQLiteErrorCode;
import org.sqlite.SQLiteException;

/**
 * SQLite: one file, many processes of one host. Write-ahead log, every commit synced to disk. The
 * clock is the host's own, see {@link HostClock}.
 */
public class SqliteDialect implements Dialect, Connections {

  /** In a row, as many as Linux follows. */
  private static final int MOST_LINKS = 40;

  /** Marks the file as ours: "Pawl" in ASCII. */
  private static final int APPLICATION_ID = 0x5061776c;

  /** Ready-made: a statement here costs so little that its text would show. */
  private static final String LOCK_ROW = lockRow(Table.LOCK);

  private static final String SIZE =
      "SELECT 'the file', (SELECT count(*) FROM pawl_lock), page_count * page_size"
          + " FROM pragma_page_count, pragma_page_size";

  /** No primary key can be dropped here. */
  private static final String INDEX =
      "SELECT 1 FROM sqlite_master WHERE tbl_name = ? AND ? IN (name, 'PRIMARY')";

  private static final String UPSERT_LOCK = upsertRow(Table.LOCK);

  private final Path file;
  private final SqliteFiles files;
  private final Semaphore turn;
  private final HostClock clock;
  private volatile long offsetMillis;

  /**
   * @throws StoreConfigurationException where the host's clock cannot be told
   */
  public SqliteDialect(Path file) {
    this(file, HostClock.ofThisHost());
  }

  public SqliteDialect(Path file, HostClock clock) {
    this.file = file;
    this.files = new SqliteFiles(file);
    this.turn = FileTurns.of(file);
    this.clock = clock;
  }

  /** What SQLite opens or makes for {@code file}, and beside which it keeps its log. */
  public static Path behindLinks(Path file) throws IOException {
    Path real = file;
    for (int i = 0; i < MOST_LINKS && Files.isSymbolicLink(real); i++) {
      real = real.resolveSibling(Files.readSymbolicLink(real));
    }
    return real;
  }

  @Override
  public boolean servesOthers() {
    return files.wereWrittenOfLate();
  }

  @Override
  public Semaphore turn() {
    return turn;
  }

  @Override
  public String describe() {
    return "sqlite:" + file;
  }

  public Database database() {
    return new Database(this, this);
  }

  @Override
  public boolean areOurs() {
    return true;
  }

  @Override
  public Runnable place() {
    return files.opened();
  }

  @Override
  public boolean isLost() {
    return files.areLost();
  }

  @Override
  public Frame setUpWriter(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      refuseOthersFiles(statement);
      statement.execute("PRAGMA journal_mode = WAL");
      statement.execute("PRAGMA synchronous = FULL");
      askInt(statement, "PRAGMA user_version"); // makes what stands beside the file
    }
    return Frame.NONE;
  }

  /**
   * Autocommit stays on and transactions are begun by hand, since the driver begins the next one as
   * soon as one has ended. Busy is answered at once: the store waits by itself, with pauses short
   * enough to get a turn.
   */
  @Override
  public Connection open() throws SQLException {
    SQLiteConfig config = new SQLiteConfig();
    config.setBusyTimeout(0);
    files.refuseOthers();
    // Otherwise each INSERT is followed by a regular expression and a query for a row id.
    config.setGetGeneratedKeys(false);
    return config.createConnection("jdbc:sqlite:" + file);
  }

  @Override
  public boolean beginsInSql() {
    return true;
  }

  @Override
  public String begin() {
    return "BEGIN IMMEDIATE";
  }

  @Override
  public int jdbcIsolation() {
    return Connection.TRANSACTION_NONE;
  }

  private void refuseOthersFiles(Statement statement) throws SQLException {
    try {
      refuseForeign(statement);
    } catch (SQLiteException e) {
      if (e.getResultCode() == SQLiteErrorCode.SQLITE_NOTADB) {
        throw new StoreConfigurationException(
            describe() + ": is not a SQLite database; name another file", e);
      }
      throw e;
    }
  }

  private void refuseForeign(Statement statement) throws SQLException {
    boolean empty = askInt(statement, "SELECT count(*) FROM sqlite_master") == 0;
    if (!empty && askInt(statement, "PRAGMA application_id") != APPLICATION_ID) {
      throw new StoreConfigurationException(
          describe() + ": is a SQLite database of another application; name a file of its own");
    }
    try {
      Schema.refuseUnreleased(askInt(statement, "PRAGMA user_version"));
    } catch (StoreConfigurationException e) {
      throw new StoreConfigurationException(describe() + ": " + e.getMessage(), e);
    }
  }

  @Override
  public void prepare(Connection writer) throws SQLException {
    try (Statement statement = writer.createStatement()) {
      new Schema(schema(), true).prepare(writer);
      if (askInt(statement, "PRAGMA user_version") < Schema.VERSION) {
        statement.executeUpdate("PRAGMA application_id = " + APPLICATION_ID);
        statement.executeUpdate("PRAGMA user_version = " + Schema.VERSION);
      }
    }
    offsetMillis = agreedOffset(writer);
  }

  private static int askInt(Statement statement, String query) throws SQLException {
    try (ResultSet answer = statement.executeQuery(query)) {
      return answer.getInt(1);
    }
  }

  @Override
  public String schema() {
    return "sqlite";
  }

  /** The offset that the first process of this boot wrote down. */
  private long agreedOffset(Connection writer) throws SQLException {
    try (PreparedStatement select =
        writer.prepareStatement("SELECT offset_millis FROM pawl_clock WHERE boot = ?")) {
      select.setString(1, clock.boot());
      try (ResultSet row = select.executeQuery()) {
        if (row.next()) {
          return row.getLong(1);
        }
      }
    }
    long offset = clock.epochOffsetMillis();
    try (Statement delete = writer.createStatement();
        PreparedStatement insert =
            writer.prepareStatement("INSERT INTO pawl_clock (boot, offset_millis) VALUES (?, ?)")) {
      if (clock.isMonotonic()) { // rows of earlier boots are of no use
        delete.executeUpdate("DELETE FROM pawl_clock WHERE boot <> '" + HostClock.NO_BOOT + "'");
      }
      insert.setString(1, clock.boot());
      insert.setLong(2, offset);
      insert.executeUpdate();
    }
    return offset;
  }

  @Override
  public long now(Connection connection) {
    return clock.millis() + offsetMillis;
  }

  @Override
  public long now(long newestOfRows) {
    return clock.millis() + offsetMillis;
  }

  /** A statement is no trip here. */
  @Override
  public int rowsPerStatement() {
    return 1;
  }

  @Override
  public String lockRows(Table table, int n, boolean waits) {
    return table == Table.LOCK ? LOCK_ROW : lockRow(table);
  }

  private static String lockRow(Table table) {
    return "SELECT "
        + table.columns()
        + ", 0 FROM "
        + table.name()
        + " WHERE "
        + table.key().get(0)
        + " = ?";
  }

  /** See {@link #now(long)}. */
  @Override
  public String clock() {
    return "0";
  }

  /** What is missing is inserted with the time of its transaction. */
  @Override
  public String utcNow() {
    throw new UnsupportedOperationException("the clock is the host's");
  }

  @Override
  public boolean excludesOthers() {
    return true;
  }

  @Override
  public void bindTime(PreparedStatement statement, int parameter, long millis)
      throws SQLException {
    statement.setString(parameter, IsoMillis.sortable(millis));
  }

  @Override
  public long readTime(ResultSet row, int column) throws SQLException {
    return IsoMillis.parseOrZero(row.getString(column));
  }

  /** The write lock of the file has been taken: what is missing stays missing until we write. */
  @Override
  public @Nullable String insertMissing(Table table, int n) {
    return null;
  }

  @Override
  public String insertLocks(int n) {
    throw new UnsupportedOperationException("what is missing stays missing until we write");
  }

  @Override
  public String upsert(Table table, int n) {
    return table == Table.LOCK ? UPSERT_LOCK : upsertRow(table);
  }

  private static String upsertRow(Table table) {
    return table.insert(1) + table.onConflictReplace();
  }

  @Override
  public boolean hasShortcuts() {
    return false;
  }

  @Override
  public boolean takesSeveralStatements() {
    return false;
  }

  @Override
  public long changes(Connection reader) throws SQLException {
    try (Statement statement = reader.createStatement();
        ResultSet version = statement.executeQuery("PRAGMA data_version")) {
      return version.getLong(1);
    }
  }

  @Override
  public boolean looksCheaply() {
    return true;
  }

  @Override
  public boolean connectsCheaply() {
    return true;
  }

  @Override
  public Failure classify(SQLException failure) {
    if (!(failure instanceof SQLiteException known)) {
      return Failure.OTHER;
    }
    SQLiteErrorCode code = known.getResultCode();
    return switch (code.code & 0xff) {
      // BUSY, LOCKED; PROTOCOL: others kept the log's index from whoever began
      case 5, 6, 15 -> Failure.CONFLICT;
      case 3, 8, 14, 23 -> Failure.DENIED; // PERM, READONLY, CANTOPEN, AUTH
      case 11, 26 -> Failure.UNUSABLE; // CORRUPT, NOTADB
      case 10 -> Failure.UNAVAILABLE; // IOERR
      default -> Failure.OTHER; // FULL among them
    };
  }

  @Override
  public List<Finding> diagnose(Connection reader) throws SQLException {
    List<Finding> findings = new ArrayList<>();
    try (Statement statement = reader.createStatement()) {
      findings.add(
          ok("SQLite " + askText(statement, "SELECT sqlite_version()") + ", file " + file));
      findings.add(
          expect(
              "journal mode",
              "wal",
              askText(statement, "PRAGMA journal_mode"),
              "let no other program change it; delete the file while nothing uses it"));
      findings.add(
          expect(
              "integrity",
              "ok",
              askText(statement, "PRAGMA quick_check(1)"),
              "the file is damaged: delete it while nothing uses it; tokens start anew"));
    }
    Findings tables = new Findings(reader, this);
    TableFindings.add(tables, SIZE, INDEX, TableFindings.MANY_BYTES);
    findings.addAll(tables.all());
    findings.add(
        clock.isMonotonic()
            ? ok("clock: the host's monotonic one; setting the wall clock changes nothing")
            : new Finding(
                Level.WARNING,
                "clock: the host's wall clock",
                "do not set it by hand while locks are held"));
    return findings;
  }

  private static Finding ok(String what) {
    return new Finding(Level.OK, what, "");
  }

  private static Finding expect(String what, String expected, String found, String fix) {
    return found.equals(expected)
        ? ok(what + ": " + found)
        : new Finding(Level.PROBLEM, what + ": " + found + ", not " + expected, fix);
  }

  private static String askText(Statement statement, String query) throws SQLException {
    try (ResultSet answer = statement.executeQuery(query)) {
      return answer.getString(1);
    }
  }
}
