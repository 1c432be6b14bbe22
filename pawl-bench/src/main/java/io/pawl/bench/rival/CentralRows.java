package io.pawl.bench.rival;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.zip.CRC32;

/**
 * The published recipe: one transaction locks a central row, by the name's CRC32 if there are
 * several, and then reads, inserts or updates the row of the name. The deadline is by the client's
 * clock. A release is one guarded update of the name's own row.
 */
public final class CentralRows extends PolledRows {

  public static final String ONE = "one central row";
  public static final String STRIPED = "100 central rows";

  private static final long LEASE_MILLIS = 30_000;

  private final int rows;

  /**
   * @param rows 1, or as many as the table has
   */
  public CentralRows(int rows) {
    super(rows == 1 ? ONE : STRIPED, false);
    this.rows = rows;
  }

  /** The first to ask inserts it. */
  @Override
  void prepare(Connection connection, String lock) {}

  @Override
  boolean take(Connection connection, String lock, String owner) throws SQLException {
    lockCentralRow(connection, lock);
    long now = System.currentTimeMillis();
    try (PreparedStatement select =
        connection.prepareStatement(
            "SELECT status, deadline FROM named_lock WHERE lock_name = ?")) {
      select.setString(1, lock);
      try (ResultSet row = select.executeQuery()) {
        if (!row.next()) {
          return insert(connection, lock, owner, now);
        }
        if (row.getInt(1) == 1 && row.getLong(2) > now) {
          return false;
        }
      }
    }
    return SqlPool.update(
            connection,
            "UPDATE named_lock SET status = 1, owner = ?, deadline = ?, entries = entries + 1"
                + " WHERE lock_name = ?",
            owner,
            now + LEASE_MILLIS,
            lock)
        == 1;
  }

  private void lockCentralRow(Connection connection, String lock) throws SQLException {
    CRC32 crc = new CRC32();
    crc.update(lock.getBytes(StandardCharsets.UTF_8));
    try (PreparedStatement select =
        connection.prepareStatement("SELECT id FROM center_lock WHERE id = ? FOR UPDATE")) {
      select.setInt(1, (int) (crc.getValue() % rows));
      select.executeQuery().close();
    }
  }

  private static boolean insert(Connection connection, String lock, String owner, long now)
      throws SQLException {
    return SqlPool.update(
            connection,
            "INSERT INTO named_lock (lock_name, entries, deadline, owner, status)"
                + " VALUES (?, 1, ?, ?, 1)",
            lock,
            now + LEASE_MILLIS,
            owner)
        == 1;
  }

  @Override
  boolean giveBack(Connection connection, String lock, String owner) throws SQLException {
    return SqlPool.update(
            connection,
            "UPDATE named_lock SET status = 0, owner = NULL"
                + " WHERE lock_name = ? AND owner = ? AND status = 1",
            lock,
            owner)
        == 1;
  }
}
