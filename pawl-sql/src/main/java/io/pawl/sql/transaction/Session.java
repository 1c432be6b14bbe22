package io.pawl.sql.transaction;

import io.pawl.sql.dialect.Database;
import io.pawl.sql.dialect.Dialect;
import io.pawl.sql.dialect.Frame;
import io.pawl.sql.dialect.Table;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A connection on which transactions run, one at a time: lock rows, write rows, commit.
 *
 * <p>Where the driver takes several statements, the commit is no trip of its own.
 */
public final class Session implements AutoCloseable {

  private static final int MOST_PREPARED = 32;

  private static final Logger log = LoggerFactory.getLogger(Session.class);

  private final Database database;
  private final Dialect dialect;
  private final Borrowed borrowed;
  private final Frame frame;
  private final boolean commitsWithWrite;
  private final Runnable place;
  private final Map<String, PreparedStatement> prepared =
      new LinkedHashMap<>(MOST_PREPARED, 0.75f, true);
  private boolean begun;

  /** Whether what {@link Frame#begin} sets is certain to be set, and whether it may be. */
  private boolean hurried;

  private boolean mayBeHurried;
  private boolean written;
  private boolean aloneSent;
  private boolean committedSome;

  public Session(Database database) throws SQLException {
    this.database = database;
    this.dialect = database.dialect();
    this.borrowed = Borrowed.writer(database);
    this.commitsWithWrite = dialect.takesSeveralStatements();
    this.place = dialect.place();
    this.frame = borrowed.frame();
  }

  public Connection connection() {
    return borrowed.connection();
  }

  /** Whether something was sent that may have been applied, in the transaction under way. */
  boolean hasWritten() {
    return written;
  }

  /** Whether nothing can have been applied since {@link #begin}. */
  boolean hasChangedNothing() {
    return !written && !aloneSent && !committedSome;
  }

  /** Begins a transaction, where that is a statement of its own. */
  void begin() throws SQLException {
    committedSome = false;
    place.run();
    String sql = dialect.begin();
    if (sql != null) {
      prepare(sql).execute();
      begun = true;
    }
  }

  /** Those of {@code names} that are names in {@code table} too, whoever has locked their rows. */
  public Set<String> among(String table, Collection<String> names) throws SQLException {
    Set<String> found = new HashSet<>();
    for (List<String> chunk : chunks(List.copyOf(names))) {
      String in = Table.repeated("?", chunk.size());
      PreparedStatement statement =
          prepare("SELECT name FROM " + table + " WHERE name IN (" + in + ")");
      for (int i = 0; i < chunk.size(); i++) {
        statement.setString(i + 1, chunk.get(i));
      }
      try (ResultSet result = statement.executeQuery()) {
        while (result.next()) {
          found.add(result.getString(1));
        }
      }
    }
    return found;
  }

  /** The first rows that {@code statement} answers with, whatever stands before its SELECT. */
  public static ResultSet query(PreparedStatement statement) throws SQLException {
    boolean rows = statement.execute();
    while (!rows) {
      rows = statement.getMoreResults();
      if (!rows && statement.getUpdateCount() == -1) {
        throw new SQLException("the database answered no rows");
      }
    }
    return statement.getResultSet();
  }

  /**
   * Runs {@code statements}, which would mean nothing if they were committed alone; in one trip
   * where the driver takes several.
   */
  public Answers ask(List<Write> statements) throws SQLException {
    if (!dialect.takesSeveralStatements()) {
      return new Answers(statements.iterator());
    }
    String sql = String.join("; ", statements.stream().map(Write::sql).toList());
    return new Answers(
        List.of(
                new Write(
                    sql,
                    (statement, first) -> {
                      int parameter = first;
                      for (Write each : statements) {
                        parameter = each.binding.bind(statement, parameter);
                      }
                      return parameter;
                    }))
            .iterator());
  }

  /** What a series of statements answers, in their order. */
  public final class Answers implements AutoCloseable {

    private final Iterator<Write> unsent;
    private @Nullable PreparedStatement statement;

    private Answers(Iterator<Write> unsent) {
      this.unsent = unsent;
    }

    /** The next rows. */
    public ResultSet nextRows() throws SQLException {
      PreparedStatement asked = statement;
      boolean rows = asked != null && asked.getMoreResults();
      while (!rows || asked == null) {
        if (asked != null && asked.getUpdateCount() != -1) {
          rows = asked.getMoreResults();
        } else if (unsent.hasNext()) {
          Write next = unsent.next();
          asked = prepare(next.sql);
          statement = asked;
          next.binding.bind(asked, 1);
          rows = asked.execute();
        } else {
          throw new SQLException("the database answered too few rows");
        }
      }
      return asked.getResultSet();
    }

    @Override
    public void close() throws SQLException {
      if (statement != null && statement.getResultSet() != null) {
        statement.getResultSet().close();
      }
    }
  }

  /**
   * Runs an update that is a transaction of its own, and returns how many rows it changed. One
   * trip.
   *
   * @param mayComeLate whether it changes nothing should it arrive after it was repeated
   */
  public int runAlone(PreparedStatement update, boolean mayComeLate) throws SQLException {
    begun = true; // a statement that fails half-way may leave a transaction open
    aloneSent = true;
    written = !mayComeLate;
    int rows = updated(update);
    if (!dialect.beginsInSql()) {
      connection().commit();
    }
    begun = false;
    aloneSent = false;
    written = false;
    if (rows > 0) {
      committedSome = true;
      database.written().set(true);
    }
    return rows;
  }

  /** How many rows {@code statement} changed, whatever stands around its UPDATE. */
  private static int updated(PreparedStatement statement) throws SQLException {
    boolean selected = statement.execute();
    int rows = 0;
    for (int count = statement.getUpdateCount(); selected || count != -1; ) {
      rows += selected ? 0 : count;
      selected = statement.getMoreResults();
      count = statement.getUpdateCount();
    }
    return rows;
  }

  /**
   * What the next statement has to begin with: nothing unless it is the first of its transaction.
   * It is taken to follow.
   */
  public String opening() {
    if (begun) {
      return "";
    }
    begun = true;
    mayBeHurried = !frame.rest().isEmpty();
    return hurried ? frame.beginAgain() : frame.begin();
  }

  /** {@code update} as a transaction of its own that waits for no row for long, in one trip. */
  public String alone(String update) {
    return frame.around(update);
  }

  /** A statement that changes something, and how its parameters are set. */
  public record Write(String sql, Binding binding) {}

  /** Sets parameters. */
  public interface Binding {

    /** Sets the parameters from {@code first} on, and returns the next free one. */
    int bind(PreparedStatement statement, int first) throws SQLException;
  }

  /**
   * Runs {@code writes}, and commits if the last of them changed a row, else rolls back; says
   * which. Two trips where the driver takes several statements.
   */
  public boolean commitIfLastChanges(List<Write> writes) throws SQLException {
    StringBuilder sql = new StringBuilder(opening());
    int changed = 0;
    if (commitsWithWrite) {
      writes.forEach(write -> sql.append(write.sql).append("; "));
      changed = run(sql.substring(0, sql.length() - 2), writes);
    } else {
      for (Write write : writes) {
        changed = run(write.sql, List.of(write));
      }
    }
    if (changed == 0) {
      rollBack();
      return false;
    }
    written = true;
    commit();
    return true;
  }

  /**
   * Leaves the row of {@code name} as it is, in a transaction that has changed something.
   *
   * @param update begins the statement
   * @param column a number
   */
  public static List<Write> thereAndBack(String update, String column, String name) {
    return Stream.of("+", "-")
        .map(
            sign ->
                new Write(
                    update + " SET " + column + " = " + column + " " + sign + " 1 WHERE name = ?",
                    (statement, first) -> {
                      statement.setString(first, name);
                      return first + 1;
                    }))
        .toList();
  }

  /** Runs {@code writes} and commits; one trip where the driver takes several statements. */
  public void commitAll(List<Write> writes) throws SQLException {
    if (writes.isEmpty()) {
      commit();
      return;
    }
    written = true;
    if (!commitsWithWrite) {
      for (Write write : writes) {
        run(write.sql, List.of(write));
      }
      commit();
      return;
    }
    StringBuilder sql = new StringBuilder();
    writes.forEach(write -> sql.append(write.sql).append("; "));
    run(sql.append("COMMIT").toString(), writes);
    committed();
  }

  /** Runs {@code write}, which may be the first of its transaction; says how many rows changed. */
  public int change(Write write) throws SQLException {
    String sql = opening() + write.sql;
    written = true;
    return run(sql, List.of(write));
  }

  /** Runs {@code write}; the transaction goes on. */
  public void write(Write write) throws SQLException {
    written = true;
    run(write.sql, List.of(write));
  }

  /** How many rows the last of {@code writes} changed. */
  private int run(String sql, List<Write> writes) throws SQLException {
    PreparedStatement statement = prepare(sql);
    int parameter = 1;
    for (Write write : writes) {
      parameter = write.binding.bind(statement, parameter);
    }
    statement.execute();
    return drain(statement);
  }

  /** Commits whatever was done. */
  public void commit() throws SQLException {
    if (dialect.beginsInSql()) {
      run("COMMIT");
    } else {
      connection().commit();
    }
    committed();
  }

  private void committed() {
    if (written) {
      committedSome = true;
      database.written().set(true);
    }
    hurried |= begun && mayBeHurried;
    begun = false;
    written = false;
  }

  /** Ends the transaction under way, so that its locks are free. */
  public void rollBack() throws SQLException {
    if (dialect.beginsInSql()) {
      run("ROLLBACK");
    } else {
      connection().rollback();
    }
    begun = false;
    written = false;
    aloneSent = false;
  }

  /** Whether the server ends it sooner than it should if it lies idle. */
  boolean isHurried() {
    return mayBeHurried;
  }

  /** It may lie idle from now on. */
  void rest() throws SQLException {
    prepare(frame.rest()).execute();
    hurried = false;
    mayBeHurried = false;
  }

  private void run(String sql) throws SQLException {
    if (begun) {
      prepare(sql).execute();
    }
  }

  /** Takes the answers to all statements; says how many rows the last one changed. */
  private static int drain(PreparedStatement statement) throws SQLException {
    int last = statement.getUpdateCount();
    while (statement.getMoreResults() || statement.getUpdateCount() != -1) {
      last = statement.getUpdateCount();
    }
    return last;
  }

  public PreparedStatement prepare(String sql) throws SQLException {
    PreparedStatement known = prepared.get(sql);
    if (known == null) {
      known = connection().prepareStatement(sql);
      prepared.put(sql, known);
      closeOldest();
    }
    return known;
  }

  private void closeOldest() throws SQLException {
    if (prepared.size() > MOST_PREPARED) {
      String oldest = prepared.keySet().iterator().next();
      @Nullable PreparedStatement statement = prepared.remove(oldest);
      if (statement != null) {
        statement.close();
      }
    }
  }

  public <T> List<List<T>> chunks(List<T> all) {
    int size = dialect.rowsPerStatement();
    List<List<T>> chunks = new ArrayList<>();
    for (int from = 0; from < all.size(); from += size) {
      chunks.add(all.subList(from, Math.min(all.size(), from + size)));
    }
    return chunks;
  }

  /** Never to be used again, by anyone. */
  void evict() {
    borrowed.markFailed();
    borrowed.close();
  }

  /** From any thread: whoever uses it fails, and evicts it. */
  void cut() {
    borrowed.cut();
  }

  /** Closes our connection, or gives back the application's. */
  @Override
  public void close() {
    try {
      for (PreparedStatement statement : prepared.values()) {
        statement.close();
      }
    } catch (SQLException | RuntimeException | Error e) {
      log.debug("a statement cannot be closed, the connection is given up", e);
      borrowed.markFailed();
    }
    borrowed.close();
  }
}
