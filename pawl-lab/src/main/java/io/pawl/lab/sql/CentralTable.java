package io.pawl.lab.sql;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.OptionalLong;
import java.util.zip.CRC32;

/** S14 and S15: a row for each name, changed only by whoever has locked a central row. */
record CentralTable(Connection connection, int centralRows) {

  private static final long LEASE_MILLIS = 60_000;

  static void create(Connection connection) throws SQLException {
    Db.run(
        connection,
        """
        CREATE TABLE IF NOT EXISTS lab_central (
          id BIGINT AUTO_INCREMENT PRIMARY KEY,
          lock_name VARCHAR(100) NOT NULL UNIQUE,
          count BIGINT NOT NULL DEFAULT 0,
          deadline BIGINT NOT NULL DEFAULT 0,
          description VARCHAR(100) NOT NULL DEFAULT '',
          created TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
          modified TIMESTAMP DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
          status INT NOT NULL DEFAULT 0)\
        """);
  }

  /** Makes the central rows, as an installation does. */
  void install() throws SQLException {
    for (int row = 0; row < centralRows; row++) {
      Db.run(connection, "INSERT IGNORE INTO lab_central (lock_name) VALUES (?)", rowName(row));
    }
  }

  private String rowName(int row) {
    return centralRows == 1 ? "center_lock" : "center_lock_" + row;
  }

  /** The central row that a name stands behind. */
  String central(String name) {
    CRC32 sum = new CRC32();
    sum.update(name.getBytes(StandardCharsets.UTF_8));
    return rowName((int) (sum.getValue() % centralRows));
  }

  /** Begins a transaction, and waits for the central row of {@code name}. */
  void enter(String name) throws SQLException {
    connection.setAutoCommit(false);
    Db.number(
        connection, "SELECT id FROM lab_central WHERE lock_name = ? FOR UPDATE", central(name));
  }

  void leave() throws SQLException {
    connection.commit();
    connection.setAutoCommit(true);
  }

  boolean tryLock(String name) throws SQLException {
    enter(name);
    OptionalLong deadline =
        Db.number(connection, "SELECT deadline FROM lab_central WHERE lock_name = ?", name);
    long now = System.currentTimeMillis();
    boolean free = deadline.isEmpty() || deadline.getAsLong() < now;
    if (deadline.isEmpty()) {
      Db.run(
          connection,
          "INSERT INTO lab_central (lock_name, deadline, status) VALUES (?, ?, 1)",
          name,
          now + LEASE_MILLIS);
    } else if (free) {
      Db.run(
          connection,
          "UPDATE lab_central SET deadline = ?, status = 1 WHERE lock_name = ?",
          now + LEASE_MILLIS,
          name);
    }
    leave();
    return free;
  }

  void unlock(String name) throws SQLException {
    enter(name);
    Db.run(connection, "UPDATE lab_central SET deadline = 0, status = 0 WHERE lock_name = ?", name);
    leave();
  }
}
