package io.pawl.sql.lock;

import io.pawl.error.StoreException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.spi.Tokens;
import io.pawl.spi.rule.LockState;
import io.pawl.sql.dialect.Database;
import io.pawl.sql.dialect.Dialect;
import io.pawl.sql.dialect.Table;
import io.pawl.sql.transaction.Borrowed;
import io.pawl.sql.transaction.Session;
import io.pawl.sql.transaction.Tally;
import io.pawl.sql.transaction.Transactions;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What has to be done with the table of locks from time to time: rows are looked through without a
 * lock, a page at a time, and changed in transactions that lock a few rows each. Used by one thread
 * at a time until it is closed; it refuses whoever comes then.
 */
public final class Upkeep implements AutoCloseable {

  /** So many rows are locked at once. */
  private static final int ROWS = 100;

  private static final String FORGET =
      "UPDATE pawl_forgotten SET locks = locks + ?,"
          + " last_token = CASE WHEN last_token < ? THEN ? ELSE last_token END WHERE one = 1";

  private static final String RAISE_FORGOTTEN =
      "UPDATE pawl_forgotten SET last_token = last_token + ? WHERE one = 1";

  private static final String RAISE =
      " SET last_token = last_token + ? WHERE name > ? AND name <= ?";

  private static final String LARGEST_FORGOTTEN =
      "SELECT max(last_token), count(*) FROM pawl_forgotten";

  private static final String LARGEST =
      "SELECT max(last_token), count(*) FROM pawl_lock WHERE name > ? AND name <= ?";

  private static final String RAISE_FORGOTTEN_TO =
      "UPDATE pawl_forgotten SET last_token = ? WHERE one = 1 AND last_token < ?";

  private static final String RAISE_TO =
      " SET last_token = ? WHERE last_token < ? AND name > ? AND name <= ?";

  private static final String HIGHEST =
      "SELECT (SELECT max(last_token) FROM pawl_forgotten), (SELECT max(last_token) FROM"
          + " pawl_lock)";

  /**
   * @param forgotten no token of a lock that the database does not know was larger
   * @param known the largest of those that it knows, 0 if there are none
   */
  public record Highest(long forgotten, long known) {}

  private final Database database;
  private final Dialect dialect;
  private final Transactions transactions;
  private @Nullable Borrowed reader;
  private volatile boolean closed;

  /**
   * @param tally of requests about locks
   */
  public Upkeep(Database database, Tally tally) {
    this.database = database;
    this.dialect = database.dialect();
    this.transactions = new Transactions(database, tally);
  }

  /** See {@link io.pawl.spi.Maintainable#purge}. */
  public long purge(Duration idle) {
    return wholly(() -> purgeAll(Math.max(0, now() - idle.toMillis())));
  }

  private long purgeAll(long before) {
    long purged = 0;
    String last = "";
    Names.Marked page;
    do {
      String from = last;
      page = read(reader -> Names.old(reader, dialect, before, from));
      for (int i = 0; i < page.names().size(); i += ROWS) {
        List<String> some = page.names().subList(i, Math.min(page.names().size(), i + ROWS));
        long startedAt = System.nanoTime();
        purged += purge(some, before);
        LockSupport.parkNanos(System.nanoTime() - startedAt);
      }
      last = page.last();
    } while (page.goesOn());
    return purged;
  }

  /** Forgets those of {@code names} that are idle and were last used before; says how many. */
  public long purge(List<String> names, long before) {
    return run(session -> purge(session, names, before));
  }

  private long purge(Session session, List<String> names, long before) throws SQLException {
    LockRows rows = new LockRows(session, dialect);
    LockRows.Locked locked = rows.lockThoseFree(names);
    List<String> idle = unusedSince(session, before, idle(locked));
    if (idle.isEmpty()) {
      session.commit();
      return 0;
    }
    long lastToken = 0;
    List<Long> ended = new ArrayList<>();
    for (String name : idle) {
      StoredLock lock = locked.locks().get(name);
      if (lock != null) {
        lastToken = Math.max(lastToken, lock.row().lastToken());
        lock.waiters().forEach(waiter -> ended.add(waiter.position()));
      }
    }
    List<Session.Write> writes = new ArrayList<>();
    session.chunks(ended).forEach(some -> writes.add(rows.delete(some)));
    for (List<String> some : session.chunks(idle)) {
      String in = Table.repeated("?", some.size());
      writes.add(
          new Session.Write(
              dialect.deleteByKey("pawl_lock") + " WHERE name IN (" + in + ")",
              (statement, first) -> LockRows.bind(some, statement, first)));
    }
    writes.add(forget(idle.size(), lastToken));
    if (!session.commitIfLastChanges(writes)) {
      throw LockRows.tokensAreLost(database);
    }
    return (long) idle.size();
  }

  private static List<String> idle(LockRows.Locked locked) {
    List<String> idle = new ArrayList<>();
    for (Map.Entry<String, StoredLock> each : locked.locks().entrySet()) {
      LockState state = each.getValue().glance(locked.now());
      if (state != null && StoredLock.settled(state, locked.now()).isIdle()) {
        idle.add(each.getKey());
      }
    }
    return idle;
  }

  /** Those of {@code names}, under lock, that nobody used while they were not. */
  private List<String> unusedSince(Session session, long before, List<String> names)
      throws SQLException {
    List<String> unused = new ArrayList<>();
    for (List<String> some : session.chunks(names)) {
      String in = Table.repeated("?", some.size());
      PreparedStatement select =
          session.prepare("SELECT name FROM pawl_lock WHERE used < ? AND name IN (" + in + ")");
      dialect.bindTime(select, 1, before);
      LockRows.bind(some, select, 2);
      try (ResultSet rows = select.executeQuery()) {
        while (rows.next()) {
          unused.add(rows.getString(1));
        }
      }
    }
    return unused;
  }

  private static Session.Write forget(int locks, long lastToken) {
    return new Session.Write(
        FORGET,
        (statement, first) -> {
          statement.setLong(first, locks);
          statement.setLong(first + 1, lastToken);
          statement.setLong(first + 2, lastToken);
          return first + 3;
        });
  }

  /** See {@link io.pawl.spi.Maintainable#raiseTokens}. */
  public long raiseTokens(long by) {
    return wholly(() -> raiseAll(by));
  }

  private long raiseAll(long by) {
    run(session -> raiseForgotten(session, by)); // first: who becomes known begins above it
    long raised = 0;
    String last = "";
    Names.Marked page;
    do {
      String from = last;
      page = read(reader -> Names.busy(reader, dialect, from));
      String to = page.last();
      raised += to.equals(from) ? 0 : run(session -> raise(session, by, from, to));
      last = to;
    } while (page.goesOn());
    return raised;
  }

  private long raiseForgotten(Session session, long by) throws SQLException {
    checkEnoughAreLeft(by, session.prepare(LARGEST_FORGOTTEN));
    Session.Write raise =
        new Session.Write(
            RAISE_FORGOTTEN,
            (statement, first) -> {
              statement.setLong(first, by);
              return first + 1;
            });
    if (!session.commitIfLastChanges(List.of(raise))) {
      throw LockRows.tokensAreLost(database);
    }
    return 0;
  }

  private long raise(Session session, long by, String after, String to) throws SQLException {
    PreparedStatement largest = session.prepare(LARGEST);
    LockRows.bind(List.of(after, to), largest, 1);
    long known = checkEnoughAreLeft(by, largest);
    Session.Write raise =
        new Session.Write(
            dialect.updateByName() + RAISE,
            (statement, first) -> {
              statement.setLong(first, by);
              return LockRows.bind(List.of(after, to), statement, first + 1);
            });
    return session.commitIfLastChanges(List.of(raise)) ? known : 0;
  }

  /** See {@link io.pawl.spi.QuorumNode#raise}; returns how many locks were known. */
  public long raiseTokensTo(long token) {
    return wholly(
        () -> {
          run(session -> raiseTo(session, RAISE_FORGOTTEN_TO, token, List.of()));
          long raised = 0;
          String last = "";
          Names.Marked page;
          do {
            String from = last;
            page = read(reader -> Names.busy(reader, dialect, from));
            String to = page.last();
            String sql = dialect.updateByName() + RAISE_TO;
            raised +=
                to.equals(from)
                    ? 0
                    : run(session -> raiseTo(session, sql, token, List.of(from, to)));
            last = to;
          } while (page.goesOn());
          return raised;
        });
  }

  private static long raiseTo(Session session, String sql, long token, List<String> names)
      throws SQLException {
    Session.Write raise =
        new Session.Write(
            sql,
            (statement, first) -> {
              statement.setLong(first, token);
              statement.setLong(first + 1, token);
              return LockRows.bind(names, statement, first + 2);
            });
    return session.commitIfLastChanges(List.of(raise)) ? 1 : 0;
  }

  /** The largest tokens ever granted, as far as they are known. */
  public Highest highestTokens() {
    refuseClosed();
    try {
      return read(
          reader -> {
            try (PreparedStatement select = reader.prepareStatement(HIGHEST);
                ResultSet row = select.executeQuery()) {
              row.next();
              return new Highest(row.getLong(1), row.getLong(2));
            }
          });
    } finally {
      closeReader();
    }
  }

  /** Returns how many rows there are. */
  private long checkEnoughAreLeft(long by, PreparedStatement largest) throws SQLException {
    try (ResultSet row = largest.executeQuery()) {
      row.next();
      if (row.getLong(1) > Tokens.MAX - by) {
        throw new StoreException(
            database.describe()
                + ": fencing tokens cannot be raised by "
                + by
                + ": one is "
                + row.getLong(1)
                + " already, the largest possible is "
                + Tokens.MAX);
      }
      return row.getLong(2);
    }
  }

  private long now() {
    return read(dialect::now);
  }

  /** What is asked without a transaction. */
  private interface Question<T> {
    T of(Connection reader) throws SQLException;
  }

  /** Between two pages there may be a while, after which the server has ended the session. */
  private <T> T read(Question<T> question) {
    refuseClosed();
    boolean kept = reader != null;
    try {
      return ask(question);
    } catch (SQLException e) {
      failReader();
      if (!kept) {
        throw database.explain(e);
      }
      return read(question);
    } catch (RuntimeException | Error e) {
      failReader();
      throw e;
    }
  }

  private <T> T ask(Question<T> question) throws SQLException {
    Borrowed open = reader;
    if (open == null) {
      open = Borrowed.reader(database);
      reader = open;
    }
    T answer = question.of(open.connection());
    if (!database.connections().areOurs()) {
      closeReader(); // the application may need it meanwhile
    }
    return answer;
  }

  /** Before anything is touched: who comes after the close may be beside what is under way. */
  private void refuseClosed() {
    if (closed) {
      throw StoreUnavailableException.unsent(database.describe() + ": the store is closed", null);
    }
  }

  private void failReader() {
    if (reader != null) {
      reader.markFailed();
    }
    closeReader();
  }

  private void closeReader() {
    Borrowed open = reader;
    reader = null;
    if (open != null) {
      open.close();
    }
  }

  /** No connection is kept until the next time, which may be an hour later or never. */
  private long wholly(LongSupplier work) {
    refuseClosed();
    try {
      return work.getAsLong();
    } finally {
      closeReader();
      transactions.close();
    }
  }

  /** One transaction; nothing is kept of the application's connections between two. */
  private long run(Transactions.Work<Long> step) {
    try {
      return transactions.run(step);
    } finally {
      transactions.rest();
    }
  }

  /** No further step begins. */
  @Override
  public void close() {
    closed = true;
    transactions.refuseMore();
  }
}
