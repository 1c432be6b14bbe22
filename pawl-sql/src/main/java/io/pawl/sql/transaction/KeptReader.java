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
 * Runs looks, which are single statements. A connection of the store's own is kept for the looks of
 * the next 10 s, and no longer: a name may lead to another server by then, while the old one goes
 * on answering. One of the application's is returned at once. Thread-safe; looks at the same time
 * have connections of their own.
 */
public final class KeptReader implements AutoCloseable {

  private static final long LINGER_NANOS = TimeUnit.SECONDS.toNanos(10);

  private static final Logger log = LoggerFactory.getLogger(KeptReader.class);

  private final Database database;
  private final ThreadPoolExecutor keeper;
  private final ReentrantLock mutex = new ReentrantLock();
  private final Condition changed = mutex.newCondition();
  private @Nullable Reader idle;
  private boolean keeping;
  private boolean closed;

  /**
   * A connection.
   *
   * @param keptUntil from when on nothing is read on it any more
   */
  private record Reader(Borrowed borrowed, long keptUntil) {

    static Reader open(Database database) throws SQLException {
      return new Reader(Borrowed.reader(database), System.nanoTime() + LINGER_NANOS);
    }

    long nanosLeft() {
      return keptUntil - System.nanoTime();
    }
  }

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
      Reader kept = taken();
      if (kept != null) {
        try {
          return look(kept, look);
        } catch (SQLException e) {
          // the server may have ended it meanwhile
        }
      }
      return look(Reader.open(database), look);
    } catch (SQLException e) {
      throw database.explain(e);
    }
  }

  private <T> T look(Reader reader, Look<T> look) throws SQLException {
    boolean isWell = false;
    try {
      T seen = look.at(reader.borrowed().connection());
      isWell = true;
      return seen;
    } finally {
      if (!isWell) {
        reader.borrowed().markFailed();
      }
      if (!isWell || !keeps(reader)) {
        reader.borrowed().close();
      }
    }
  }

  private @Nullable Reader taken() {
    mutex.lock();
    try {
      if (idle == null || idle.nanosLeft() <= 0) {
        return null;
      }
      Reader taken = idle;
      idle = null;
      return taken;
    } finally {
      mutex.unlock();
    }
  }

  private boolean keeps(Reader reader) {
    if (!database.connections().areOurs() || database.dialect().connectsCheaply()) {
      return false;
    }
    mutex.lock();
    try {
      if (closed || idle != null || reader.nanosLeft() <= 0) {
        return false;
      }
      if (!keeping) {
        keeper.execute(this::keep);
        keeping = true;
      }
      idle = reader;
      return true;
    } catch (Error e) { // no thread can be started
      log.debug("a connection is not kept, since nobody would close it", e);
      return false;
    } finally {
      mutex.unlock();
    }
  }

  /** Until its time is over, wherever it is. */
  private void keep() {
    Reader last;
    mutex.lock();
    try {
      while (idle != null && idle.nanosLeft() > 0 && !closed) {
        changed.awaitNanos(idle.nanosLeft());
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
      last.borrowed().close();
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
