package io.pawl.bench.rival;

import com.zaxxer.hikari.HikariDataSource;
import io.pawl.bench.BenchException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;

/** A lock that is a row; whoever finds it busy comes back after a pause. */
abstract class PolledRows implements Rival {

  private final String name;
  private final boolean autoCommit;

  PolledRows(String name, boolean autoCommit) {
    this.name = name;
    this.autoCommit = autoCommit;
  }

  @Override
  public final String name() {
    return name;
  }

  /** Makes sure that the row is there. */
  abstract void prepare(Connection connection, String lock) throws SQLException;

  /** Whether {@code owner} has it now. */
  abstract boolean take(Connection connection, String lock, String owner) throws SQLException;

  /** Whether {@code owner} had it. */
  abstract boolean giveBack(Connection connection, String lock, String owner) throws SQLException;

  @Override
  public final Client connect(String address) {
    HikariDataSource pool = SqlPool.open(address, SqlPool.USUAL_SIZE, autoCommit);
    Set<String> prepared = ConcurrentHashMap.newKeySet();
    return new Client() {
      @Override
      public Turn lock(String lock) {
        if (prepared.add(lock)) {
          PolledRows.this.prepare(pool, lock);
        }
        return new RowTurn(pool, lock);
      }

      @Override
      public void close() {
        pool.close();
      }
    };
  }

  private void prepare(HikariDataSource pool, String lock) {
    try (Connection connection = pool.getConnection()) {
      prepare(connection, lock);
      if (!autoCommit) {
        connection.commit();
      }
    } catch (SQLException e) {
      throw new BenchException("cannot prepare lock " + lock, e);
    }
  }

  private final class RowTurn implements Turn {

    private final HikariDataSource pool;
    private final String lock;
    private final String owner = UUID.randomUUID().toString();

    RowTurn(HikariDataSource pool, String lock) {
      this.pool = pool;
      this.lock = lock;
    }

    /** No token: nothing of all this has one. */
    @Override
    public long acquire() {
      while (!isTaken()) {
        SqlPool.pause();
      }
      return 0;
    }

    private boolean isTaken() {
      try (Connection connection = pool.getConnection()) {
        boolean taken = take(connection, lock, owner);
        if (!autoCommit) {
          connection.commit();
        }
        return taken;
      } catch (SQLException e) {
        throw new BenchException("acquire failed", e);
      }
    }

    @Override
    public void release() {
      try (Connection connection = pool.getConnection()) {
        boolean ours = giveBack(connection, lock, owner);
        if (!autoCommit) {
          connection.commit();
        }
        if (!ours) {
          throw new BenchException("the lock was not ours any more");
        }
      } catch (SQLException e) {
        throw new BenchException("release failed", e);
      }
    }
  }
}
