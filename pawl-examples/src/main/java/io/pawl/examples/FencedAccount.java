package io.pawl.examples;

import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.error.StaleTokenException;
import io.pawl.options.LockOptions;
import io.pawl.sql.SqlFence;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;

/**
 * A holder that was paused for longer than its lease writes, and the database refuses it: another
 * has written with a larger token. Here everything is in one SQLite file; with MySQL, MariaDB or
 * PostgreSQL only the two URLs differ.
 */
public final class FencedAccount {

  private static final String PAY_IN =
      "UPDATE account SET balance = ?, fence = :token WHERE id = ? AND fence <= :token";

  private FencedAccount() {}

  /** Takes no arguments. */
  public static void main(String[] arguments)
      throws IOException, InterruptedException, SQLException {
    Path folder = Files.createTempDirectory("pawl-example-");
    Path file = folder.resolve("accounts.db");
    try (Pawl here = Pawl.connect("sqlite:" + file);
        Pawl elsewhere = Pawl.connect("sqlite:" + file);
        Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file)) {
      createAccount(connection);
      show(here, elsewhere, connection);
    } finally {
      delete(folder);
    }
  }

  private static void show(Pawl here, Pawl elsewhere, Connection connection)
      throws InterruptedException, SQLException {
    // As after a pause: nobody renews this lease, and its holder does not look at it again.
    LockOptions brief = LockOptions.defaults().lease(Duration.ofMillis(200)).renewal(false);
    Lease paused = here.lock("account:1", brief).acquire();
    int seenBeforeThePause = balance(connection);

    try (Lease next = elsewhere.lock("account:1").acquire()) {
      SqlFence.update(connection, next.token(), PAY_IN, balance(connection) + 50, 1);
      System.out.println("the next holder, token " + next.token() + ", paid in 50");

      SqlFence.update(connection, paused.token(), PAY_IN, seenBeforeThePause + 10, 1);
      throw new IllegalStateException("the write of a holder that was superseded went through");
    } catch (StaleTokenException refused) {
      System.out.println("the paused holder, token " + refused.token() + ", was refused");
    }
    if (balance(connection) != 150) {
      throw new IllegalStateException("the balance is " + balance(connection) + ", not 150");
    }
    System.out.println("the balance is 150: nothing was overwritten");
  }

  private static void createAccount(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(
          "CREATE TABLE account (id INT PRIMARY KEY, balance INT NOT NULL,"
              + " fence BIGINT NOT NULL DEFAULT 0)");
      statement.execute("INSERT INTO account (id, balance) VALUES (1, 100)");
    }
  }

  private static int balance(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SELECT balance FROM account WHERE id = 1")) {
      row.next();
      return row.getInt(1);
    }
  }

  private static void delete(Path folder) throws IOException {
    try (var files = Files.list(folder)) {
      for (Path file : files.toList()) {
        Files.delete(file);
      }
    }
    Files.delete(folder);
  }
}
