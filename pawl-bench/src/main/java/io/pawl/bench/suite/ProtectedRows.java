package io.pawl.bench.suite;

import com.zaxxer.hikari.HikariDataSource;
import io.pawl.bench.BenchException;
import io.pawl.bench.contest.ContestSuite;
import io.pawl.bench.rival.SqlPool;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** Rows that are read and written back without any protection but the lock under test. */
final class ProtectedRows implements ContestSuite.Resource {

  private final HikariDataSource pool;

  ProtectedRows(String address) {
    pool = SqlPool.open(address, SqlPool.USUAL_SIZE, true);
  }

  @Override
  public void modify(int lock) {
    try (Connection connection = pool.getConnection()) {
      long read = read(connection, lock);
      SqlPool.update(connection, "UPDATE protected_row SET v = ? WHERE id = ?", read + 1, lock);
    } catch (SQLException e) {
      throw new BenchException("the row of lock " + lock + " cannot be written", e);
    }
  }

  private static long read(Connection connection, int lock) throws SQLException {
    try (PreparedStatement select =
        connection.prepareStatement("SELECT v FROM protected_row WHERE id = ?")) {
      select.setInt(1, lock);
      try (ResultSet row = select.executeQuery()) {
        row.next();
        return row.getLong(1);
      }
    }
  }

  @Override
  public void close() {
    pool.close();
  }
}
