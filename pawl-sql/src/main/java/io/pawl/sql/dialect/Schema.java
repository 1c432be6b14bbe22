package io.pawl.sql.dialect;

import io.pawl.error.StoreConfigurationException;
import io.pawl.error.StoreDeniedException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The tables of a server: read from {@code schema/<database>.sql}, made on first use unless that is
 * forbidden. The statements may be run any number of times, by any number of clients at once.
 *
 * @param database the name of the file
 * @param creates whether missing tables may be created
 */
public record Schema(String database, boolean creates) {

  static final int VERSION = 2;

  private static final Pattern COMMENT = Pattern.compile("--[^\n]*");
  private static final String EVERY_PLANE = "a\u00e9\u6f22\ud83d\udd12";

  /** The file's text. */
  public static String ddl(String database) {
    String name = "/io/pawl/sql/schema/" + database + ".sql";
    try (InputStream file = Schema.class.getResourceAsStream(name)) {
      byte[] ddl = Objects.requireNonNull(file, name).readAllBytes();
      return new String(ddl, StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The file's statements. */
  public static List<String> statements(String database) {
    String code = COMMENT.matcher(ddl(database)).replaceAll("");
    return Stream.of(code.split(";\\s*(\n|$)"))
        .map(String::strip)
        .filter(sql -> !sql.isEmpty())
        .toList();
  }

  /** Checks the tables, and creates them where there are none. */
  void prepare(Connection connection) throws SQLException {
    if (isThere(connection)) {
      return;
    }
    if (!creates) {
      throw new StoreConfigurationException(
          "there is no table pawl_lock, and this store may not create it; run\n" + ddl(database));
    }
    try (Statement statement = connection.createStatement()) {
      for (String sql : statements(database)) {
        statement.execute(sql);
      }
    } catch (SQLException e) {
      if (isDenied(e)) {
        throw new StoreDeniedException(
            "this account may not create Pawl's tables ("
                + e.getMessage()
                + "); let one that may run\n"
                + ddl(database),
            e);
      }
      throw e;
    }
  }

  /**
   * Whether there are tables that this version can use.
   *
   * @throws StoreConfigurationException where there are tables of another version
   */
  public static boolean isThere(Connection connection) throws SQLException {
    if (!exists(connection)) {
      return false;
    }
    try (Statement statement = connection.createStatement();
        ResultSet version = statement.executeQuery("SELECT max(version) FROM pawl_schema")) {
      version.next();
      int found = version.getInt(1);
      if (version.wasNull()) { // somebody is making them
        return false;
      }
      checkVersion(found);
      return true;
    }
  }

  static void checkVersion(int found) {
    if (found > VERSION) {
      throw new StoreConfigurationException(
          "the tables were made by a newer Pawl (schema "
              + found
              + ", this one knows "
              + VERSION
              + "); upgrade");
    }
    if (found < VERSION) {
      throw new StoreConfigurationException(
          "the tables were made by an older Pawl (schema "
              + found
              + ", this one needs "
              + VERSION
              + "); that was never released: stop what uses them and drop all tables pawl_*");
    }
  }

  /** Whether this account sees the tables where it would create them. */
  private static boolean exists(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet count =
            statement.executeQuery(
                "SELECT count(*) FROM information_schema.tables WHERE table_name = 'pawl_schema'"
                    + " AND table_schema = "
                    + (isPostgres(connection) ? "ANY (current_schemas(false))" : "DATABASE()"))) {
      count.next();
      return count.getInt(1) > 0;
    }
  }

  private static boolean isPostgres(Connection connection) throws SQLException {
    return connection.getMetaData().getDatabaseProductName().equals("PostgreSQL");
  }

  private static boolean isDenied(SQLException failure) {
    return Stream.of(1044, 1142, 1227).anyMatch(code -> code == failure.getErrorCode())
        || "42501".equals(failure.getSQLState());
  }

  /** Names must arrive as they are, whatever the connection's character set. */
  static void checkUnicode(Connection connection) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement("SELECT ?")) {
      statement.setString(1, EVERY_PLANE);
      try (ResultSet echo = statement.executeQuery()) {
        echo.next();
        if (!EVERY_PLANE.equals(echo.getString(1))) {
          throw new StoreConfigurationException(
              "the connection's character set does not carry all of Unicode; use UTF-8");
        }
      }
    }
  }
}
