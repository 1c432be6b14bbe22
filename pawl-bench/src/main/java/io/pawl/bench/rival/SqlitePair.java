package io.pawl.bench.rival;

import io.pawl.bench.BenchException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.sqlite.SQLiteConfig;
import org.sqlite.SQLiteErrorCode;
import org.sqlite.SQLiteException;

/**
 * What one writes without a library: a row a lock, taken and given back by one guarded UPDATE in
 * one immediate transaction each. As durable as Pawl's (write-ahead log, synced at every commit).
 * Each thread has a connection with prepared statements; SQLite itself waits for its turn. The
 * transactions are begun by hand, since the driver, with autocommit off, begins the next one as
 * soon as one has ended.
 */
public final class SqlitePair implements Rival {

  public static final String NAME = "BEGIN IMMEDIATE pair";

  private static final int BUSY_MILLIS = 30_000;
  private static final long LEASE_MILLIS = 30_000;
  private static final long HELD_PAUSE_NANOS = 1_000_000;

  private static final ReentrantLock setUp = new ReentrantLock();

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public Client connect(String address) {
    String url = "jdbc:" + address;
    try (Connection connection = config().createConnection(url);
        Statement statement = connection.createStatement()) {
      statement.executeUpdate(
          "CREATE TABLE IF NOT EXISTS lock (name TEXT NOT NULL PRIMARY KEY,"
              + " owner TEXT, until INTEGER NOT NULL, token INTEGER NOT NULL) WITHOUT ROWID");
    } catch (SQLException e) {
      throw new BenchException("cannot create the table", e);
    }
    return lock -> new PairTurn(url, lock);
  }

  private static SQLiteConfig config() {
    SQLiteConfig config = new SQLiteConfig();
    config.setJournalMode(SQLiteConfig.JournalMode.WAL);
    config.setSynchronous(SQLiteConfig.SynchronousMode.FULL);
    config.setBusyTimeout(BUSY_MILLIS);
    return config;
  }

  private static final class PairTurn implements Turn {

    private final Connection connection;
    private final PreparedStatement begin;
    private final PreparedStatement commit;
    private final PreparedStatement take;
    private final PreparedStatement giveBack;

    PairTurn(String url, String lock) {
      String owner = UUID.randomUUID().toString();
      try {
        connection = opened(url, lock);
        begin = connection.prepareStatement("BEGIN IMMEDIATE");
        commit = connection.prepareStatement("COMMIT");
        take =
            connection.prepareStatement(
                "UPDATE lock SET owner = ?, until = ?, token = token + 1"
                    + " WHERE name = ? AND (owner IS NULL OR until < ?)");
        take.setString(1, owner);
        take.setString(3, lock);
        giveBack =
            connection.prepareStatement(
                "UPDATE lock SET owner = NULL WHERE name = ? AND owner = ?");
        giveBack.setString(1, lock);
        giveBack.setString(2, owner);
      } catch (SQLException e) {
        throw new BenchException("cannot prepare lock " + lock, e);
      }
    }

    /** One at a time, so that sixty-four threads do not wait for the file before they start. */
    private static Connection opened(String url, String lock) throws SQLException {
      setUp.lock();
      try {
        Connection connection = config().createConnection(url);
        try (PreparedStatement insert =
            connection.prepareStatement("INSERT OR IGNORE INTO lock VALUES (?, NULL, 0, 0)")) {
          insert.setString(1, lock);
          insert.executeUpdate();
        }
        return connection;
      } finally {
        setUp.unlock();
      }
    }

    /** Tokens are counted, but reading one back would be a third statement. */
    @Override
    public long acquire() {
      try {
        while (!changed(take, true)) {
          LockSupport.parkNanos(HELD_PAUSE_NANOS);
        }
        return 0;
      } catch (SQLException e) {
        throw new BenchException("acquire failed", e);
      }
    }

    @Override
    public void release() {
      try {
        if (!changed(giveBack, false)) {
          throw new BenchException("the lock was not ours any more");
        }
      } catch (SQLException e) {
        throw new BenchException("release failed", e);
      }
    }

    /** One transaction, begun again where 30 s in the queue for the file were not enough. */
    private boolean changed(PreparedStatement update, boolean timed) throws SQLException {
      begin();
      if (timed) {
        long now = System.currentTimeMillis();
        update.setLong(2, now + LEASE_MILLIS);
        update.setLong(4, now);
      }
      boolean changed = update.executeUpdate() == 1;
      commit.execute();
      return changed;
    }

    private void begin() throws SQLException {
      while (true) {
        try {
          begin.execute();
          return;
        } catch (SQLiteException e) {
          if (e.getResultCode() != SQLiteErrorCode.SQLITE_BUSY) {
            throw e;
          }
        }
      }
    }

    @Override
    public void close() {
      try {
        connection.close();
      } catch (SQLException e) {
        throw new BenchException("closing failed", e);
      }
    }
  }
}
