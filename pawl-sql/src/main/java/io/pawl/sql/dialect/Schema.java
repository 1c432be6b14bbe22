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
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The tables of a server, made on first use unless that is forbidden: {@code schema/<database>.sql}
 * has them as they are now, {@code schema/<database>-<n>.sql} what makes version {@code n} of the
 * one before. All of it may be run any number of times, by any number of clients at once.
 *
 * <p>A step adds what older clients do without, and says so by {@code usable_by}; or it shuts them
 * out.
 *
 * @param database the name of the file
 * @param creates whether tables may be created and changed
 * @param version that of this client
 */
public record Schema(String database, boolean creates, int version) {

  static final int VERSION = 5;

  /** The first that was ever released. */
  private static final int FIRST = 5;

  private static final Pattern COMMENT = Pattern.compile("--[^\n]*");
  private static final String EVERY_PLANE = "a\u00e9\u6f22\ud83d\udd12";

  private static final String EXISTS =
      "SELECT count(*) FROM information_schema.tables WHERE table_name = 'pawl_schema'"
          + " AND table_schema = ";

  /** MySQL has no IF NOT EXISTS for columns and indexes: what a step finds done. */
  private static final Set<Integer> DONE = Set.of(1060, 1061);

  public Schema(String database, boolean creates) {
    this(database, creates, VERSION);
  }

  /** The statements for tables of version {@code from}, 0 where there are none, as text. */
  public String ddl(int from) {
    return files(from).map(Schema::text).collect(Collectors.joining("\n"));
  }

  private List<String> statements(int from) {
    return files(from).map(Schema::text).flatMap(Schema::split).toList();
  }

  private Stream<String> files(int from) {
    return from == 0
        ? Stream.of(database + ".sql")
        : IntStream.rangeClosed(from + 1, version).mapToObj(step -> database + "-" + step + ".sql");
  }

  private static String text(String file) {
    String name = "/io/pawl/sql/schema/" + file;
    try (InputStream stream = Schema.class.getResourceAsStream(name)) {
      byte[] ddl = Objects.requireNonNull(stream, name).readAllBytes();
      return new String(ddl, StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Stream<String> split(String text) {
    return Stream.of(COMMENT.matcher(text).replaceAll("").split(";\\s*(\n|$)"))
        .map(String::strip)
        .filter(sql -> !sql.isEmpty());
  }

  /**
   * Checks the tables; creates them where there are none, and brings those of an older version up
   * to this one.
   *
   * @throws StoreConfigurationException where this client may not use or change them, saying what
   *     to do
   */
  public void prepare(Connection connection) throws SQLException {
    int found = exists(connection) ? usableVersion(connection) : 0;
    if (found >= version) {
      return;
    }
    if (!creates) {
      throw new StoreConfigurationException(
          (found == 0
                  ? "there is no table pawl_lock"
                  : "the tables are of version " + found + ", this Pawl needs " + version)
              + ", and this store may not "
              + (found == 0 ? "create" : "change")
              + " tables; run\n"
              + ddl(found));
    }
    try {
      makeFrom(found, connection);
    } catch (SQLException e) {
      if (isDenied(e)) {
        throw new StoreDeniedException(
            "this account may not create or change Pawl's tables ("
                + e.getMessage()
                + "); let one that may run\n"
                + ddl(found),
            e);
      }
      throw e;
    }
  }

  /** Makes the tables of this version from those of version {@code from}, 0 from none. */
  public void makeFrom(int from, Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      for (String sql : statements(from)) {
        run(statement, sql, from > 0);
      }
    }
  }

  private static void run(Statement statement, String sql, boolean step) throws SQLException {
    try {
      statement.executeUpdate(sql);
    } catch (SQLException e) {
      if (!step || !DONE.contains(e.getErrorCode())) {
        throw e;
      }
    }
  }

  /** The version of the tables; 0 while somebody is making them. */
  private int usableVersion(Connection connection) throws SQLException {
    int found;
    try (Statement statement = connection.createStatement();
        ResultSet latest = statement.executeQuery("SELECT max(version) FROM pawl_schema")) {
      latest.next();
      found = latest.getInt(1);
    }
    if (found > version) {
      checkUsable(found, connection);
    }
    refuseUnreleased(found);
    return found;
  }

  static void refuseUnreleased(int found) {
    if (found > 0 && found < FIRST) {
      throw new StoreConfigurationException(
          "the tables are of version "
              + found
              + ", which was never released: stop what uses them and drop all tables pawl_*");
    }
  }

  /** Whether tables of the newer version {@code found} can be used as if they were of this one. */
  private void checkUsable(int found, Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet oldest = statement.executeQuery("SELECT max(usable_by) FROM pawl_schema")) {
      oldest.next();
      if (oldest.getInt(1) > version) {
        throw new StoreConfigurationException(
            "the tables are of version "
                + found
                + ", for a Pawl that knows version "
                + oldest.getInt(1)
                + " at least; this one knows "
                + version
                + ": upgrade it");
      }
    }
  }

  /** Whether this account sees the tables where it would create them. */
  private boolean exists(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet count =
            statement.executeQuery(
                switch (database) {
                  case "sqlite" -> "SELECT count(*) FROM sqlite_master WHERE name = 'pawl_schema'";
                  case "postgresql" -> EXISTS + "ANY (current_schemas(false))";
                  default -> EXISTS + "DATABASE()";
                })) {
      count.next();
      return count.getInt(1) > 0;
    }
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
