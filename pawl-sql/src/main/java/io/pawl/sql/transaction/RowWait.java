package io.pawl.sql.transaction;

import io.pawl.sql.connection.OwnThread;
import io.pawl.sql.dialect.Database;
import io.pawl.sql.dialect.Dialect;
import io.pawl.sql.dialect.Table;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stands in line for a row that others have locked, as long as the database lets it wait, and gives
 * it back at once. It does so on a thread and a connection of its own, so that nobody else waits
 * with it. Only this tells a row that many use from one that somebody keeps: a request that does
 * not wait finds neither free, since InnoDB hands a row over to the next in line.
 */
final class RowWait implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(RowWait.class);

  private final Database database;
  private final Table table;
  private final ThreadPoolExecutor thread;
  private final AtomicBoolean atWork = new AtomicBoolean();
  private final ConcurrentLinkedQueue<String> free = new ConcurrentLinkedQueue<>();
  private volatile boolean closed;

  RowWait(Database database, Table table, String threadName) {
    this.database = database;
    this.table = table;
    this.thread = OwnThread.named(threadName);
  }

  boolean isIdle() {
    return !atWork.get();
  }

  /** Waits for the row of {@code name}, unless another one is waited for. */
  void begin(String name) {
    if (closed || !atWork.compareAndSet(false, true)) {
      return;
    }
    try {
      thread.execute(() -> waitFor(name));
    } catch (Error e) { // no thread can be started: the next one tries again
      log.debug("nobody waits for row {}", name, e);
      atWork.set(false);
    }
  }

  /** Those rows that were got since this was last asked. */
  Collection<String> takeFree() {
    Collection<String> taken = new ArrayList<>();
    for (String next = free.poll(); next != null; next = free.poll()) {
      taken.add(next);
    }
    return taken;
  }

  private void waitFor(String name) {
    try {
      if (!closed && gets(name)) {
        free.add(name);
      }
    } catch (SQLException | RuntimeException | Error e) {
      log.debug("row {} was not waited for to the end", name, e);
    } finally {
      atWork.set(false);
    }
  }

  private boolean gets(String name) throws SQLException {
    Session session = new Session(database);
    boolean usable = false;
    try {
      boolean found = !closed && locks(session, name); // it may have waited for its connection
      session.rollBack();
      usable = true;
      return found;
    } finally {
      if (usable) {
        session.close();
      } else {
        session.evict();
      }
    }
  }

  private boolean locks(Session session, String name) throws SQLException {
    session.begin();
    Dialect dialect = database.dialect();
    PreparedStatement select =
        session.prepare(session.opening() + dialect.lockRows(table, 1, true));
    select.setString(1, name);
    try (ResultSet row = Session.query(select)) {
      return row.next();
    } catch (SQLException e) {
      if (database.classify(e) == Dialect.Failure.BLOCKED) {
        return false;
      }
      throw e;
    }
  }

  /** No wait begins from now on; waits for the one that is under way, which takes 1 s at most. */
  @Override
  public void close() {
    closed = true;
    OwnThread.end(thread);
  }
}
