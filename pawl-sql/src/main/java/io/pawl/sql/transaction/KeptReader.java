package io.pawl.sql.transaction;

import io.pawl.sql.connection.OwnThread;
import io.pawl.sql.dialect.Database;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs looks, which are single statements. A connection of the store's own is kept for the next
 * look, for as long as one comes every 10 s; one of the application's is returned at once.
 * Thread-safe; looks at the same time have connections of their own.
 */
public final class KeptReader implements AutoCloseable {

  private static final long LINGER_NANOS = TimeUnit.SECONDS.toNanos(10);

  private static final Logger log = LoggerFactory.getLogger(KeptReader.class);

  private final Database database;
  private final ThreadPoolExecutor keeper;
  private final ReentrantLock mutex = new ReentrantLock();
  private final Condition changed = mutex.newCondition();
  private @Nullable Borrowed idle;
  private long idleSince;
  private boolean keeping;
  private boolean closed;

  /** Something to read. */
  public interface Look<T> {
    T at(Connection reader) throws SQLException;
  }

  public KeptReader(Database database, String threadName) {
    this.database = database;
    this.keeper = OwnThread.named(threadName);
  }

  /**
   * @throws io.pawl.error.StoreException where the database cannot be read
   */
  public <T> T look(Look<T> look) {
    try {
      Borrowed kept = taken();
      if (kept != null) {
        try {
          return look(kept, look);
        } catch (SQLException e) {
          // the server may have ended it meanwhile
        }
      }
      return look(Borrowed.reader(database), look);
    } catch (SQLException e) {
      throw database.explain(e);
    }
  }

  private <T> T look(Borrowed reader, Look<T> look) throws SQLException {
    boolean isWell = false;
    try {
      T seen = look.at(reader.connection());
      isWell = true;
      return seen;
    } finally {
      if (!isWell) {
        reader.markFailed();
      }
      if (!isWell || !keeps(reader)) {
        reader.close();
      }
    }
  }

  private @Nullable Borrowed taken() {
    mutex.lock();
    try {
      Borrowed taken = idle;
      idle = null;
      return taken;
    } finally {
      mutex.unlock();
    }
  }

  private boolean keeps(Borrowed reader) {
    if (!database.connections().areOurs() || database.dialect().connectsCheaply()) {
      return false;
    }
    mutex.lock();
    try {
      if (closed || idle != null) {
        return false;
      }
      if (!keeping) {
        keeper.execute(this::keep);
        keeping = true;
      }
      idle = reader;
      idleSince = System.nanoTime();
      return true;
    } catch (Error e) { // no thread can be started
      log.debug("a connection is not kept, since nobody would close it", e);
      return false;
    } finally {
      mutex.unlock();
    }
  }

  /** Until no look has come for a while. */
  private void keep() {
    Borrowed last;
    mutex.lock();
    try {
      long left = LINGER_NANOS;
      while (left > 0 && !closed) {
        changed.awaitNanos(left);
        left = idleSince + LINGER_NANOS - System.nanoTime();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // somebody wants the thread to end
    } finally {
      last = idle;
      idle = null;
      keeping = false;
      mutex.unlock();
    }
    if (last != null) {
      last.close();
    }
  }

  @Override
  public void close() {
    mutex.lock();
    try {
      closed = true;
      changed.signalAll();
    } finally {
      mutex.unlock();
    }
    OwnThread.end(keeper);
  }
}
