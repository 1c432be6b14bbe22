package io.pawl.sql.dialect;

import io.pawl.spi.Diagnosable.Finding;
import io.pawl.spi.Diagnosable.Level;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/** What {@code doctor} looks at on MySQL and MariaDB. */
final class MySqlFindings {

  private MySqlFindings() {}

  static List<Finding> of(Connection reader) throws SQLException {
    List<Finding> findings = new ArrayList<>();
    try (Statement statement = reader.createStatement();
        ResultSet server = statement.executeQuery("SELECT VERSION(), count(*) FROM pawl_lock")) {
      server.next();
      findings.add(ok("server " + server.getString(1)));
      findings.add(ok(server.getLong(2) + " lock names known"));
    }
    findings.add(
        expect(
            reader,
            "innodb_flush_log_at_trx_commit",
            "1",
            "set it to 1, or a crash of the server's host forgets locks and repeats tokens"));
    if (variable(reader, "log_bin").equals("ON")) {
      findings.add(
          expect(
              reader,
              "sync_binlog",
              "1",
              "set it to 1, or a replica promoted after a crash lacks the last commits"));
    }
    findings.add(expect(reader, "read_only", "OFF", "connect to the primary"));
    if (variable(reader, "wsrep_on").equals("ON")) {
      findings.add(
          new Finding(
              Level.WARNING,
              "Galera",
              "let all clients of Pawl use one and the same node, and switch only when it is dead"));
    }
    return findings;
  }

  private static Finding ok(String what) {
    return new Finding(Level.OK, what, "");
  }

  private static Finding expect(Connection reader, String name, String expected, String fix)
      throws SQLException {
    String found = variable(reader, name);
    return found.equals(expected)
        ? ok(name + ": " + found)
        : new Finding(Level.PROBLEM, name + ": " + found + ", not " + expected, fix);
  }

  /** Empty where this server has no such variable. */
  private static String variable(Connection reader, String name) throws SQLException {
    try (PreparedStatement statement =
        reader.prepareStatement("SHOW GLOBAL VARIABLES WHERE Variable_name = ?")) {
      statement.setString(1, name);
      try (ResultSet row = statement.executeQuery()) {
        return row.next() ? row.getString(2) : "";
      }
    }
  }
}
