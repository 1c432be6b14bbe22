package io.pawl.bench.rival;

import com.zaxxer.hikari.HikariDataSource;
import io.pawl.bench.BenchException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * The server's own locks of a session: no table, no commit, no expiry, no token. They hold a
 * connection from the moment one waits until one has released, and die with it.
 */
public final class SessionLocks implements Rival {

  private final SqlFlavour flavour;

  public SessionLocks(SqlFlavour flavour) {
    this.flavour = flavour;
  }

  @Override
  public String name() {
    return flavour.sessionLock;
  }

  @Override
  public Client connect(String address) {
    HikariDataSource pool = SqlPool.open(address, SqlPool.SESSIONS, true);
    return new Client() {
      @Override
      public Turn lock(String lock) {
        return new SessionTurn(pool, lock);
      }

      @Override
      public void close() {
        pool.close();
      }
    };
  }

  private final class SessionTurn implements Turn {

    private final HikariDataSource pool;
    private final String lock;
    private @Nullable Connection holding;

    SessionTurn(HikariDataSource pool, String lock) {
      this.pool = pool;
      this.lock = lock;
    }

    @Override
    public long acquire() {
      try {
        Connection connection = pool.getConnection();
        holding = connection;
        call(connection, flavour.takeSessionLock);
        return 0;
      } catch (SQLException e) {
        throw new BenchException("acquire failed", e);
      }
    }

    @Override
    public void release() {
      try (Connection connection = holding) {
        if (connection != null) {
          call(connection, flavour.releaseSessionLock);
        }
      } catch (SQLException e) {
        throw new BenchException("release failed", e);
      }
    }

    /** MySQL and MariaDB answer 1, PostgreSQL nothing when it takes and true when it releases. */
    private void call(Connection connection, String sql) throws SQLException {
      try (PreparedStatement statement = connection.prepareStatement(sql)) {
        statement.setString(1, lock);
        try (ResultSet row = statement.executeQuery()) {
          row.next();
          String answer = String.valueOf(row.getString(1));
          if (!answer.equals("1") && !answer.equals("t") && !answer.isEmpty()) {
            throw new BenchException(sql + " answered " + answer);
          }
        }
      }
    }
  }
}
