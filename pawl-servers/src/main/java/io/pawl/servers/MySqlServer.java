package io.pawl.servers;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A MySQL or MariaDB server with its own durable defaults. */
public final class MySqlServer extends ServerProcess {
  /** The database that is there from the start, and the user who may do everything. */
  public static final String DATABASE = "pawl";

  public static final String USER = "pawl";
  public static final String PASSWORD = "pawl-secret";

  private static final int GREETING_MILLIS = 1_000;
  private static final int PROTOCOL = 10;

  /** Run at every start, before the first connection is accepted. */
  private static final List<String> INIT =
      List.of(
          "CREATE DATABASE IF NOT EXISTS " + DATABASE + ";",
          "CREATE USER IF NOT EXISTS '" + USER + "'@'%' IDENTIFIED BY '" + PASSWORD + "';",
          "GRANT ALL ON *.* TO '" + USER + "'@'%' WITH GRANT OPTION;");

  /**
   * What MariaDB's mysql database is made of, in this order; their names begin with mysql before
   * 11, with mariadb since.
   */
  private static final List<String> MARIADB_TABLES =
      List.of(
          "_system_tables.sql",
          "_performance_tables.sql",
          "_system_tables_data.sql",
          "_sys_schema.sql");

  /** Which program plays the server. */
  public enum Flavour {
    MYSQL,
    MARIADB;

    String program() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  private final Flavour flavour;
  private final Version version;
  private final Path program;
  private final List<String> options;
  private final @Nullable Path clock;

  private MySqlServer(
      Flavour flavour, Version version, List<String> options, @Nullable Path clock) {
    super(flavour.program());
    this.clock = clock;
    this.flavour = flavour;
    this.version = version;
    this.options = options;
    try {
      this.program = ServerProgram.of(version.rowOf(flavour.program()));
      Files.write(initFile(), INIT);
      makeSystemTables();
      launch();
    } catch (IOException e) {
      close();
      throw new ServerException("cannot set up " + this, e);
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  /** Starts a server with further options, such as {@code --innodb-lock-wait-timeout=1}. */
  public static MySqlServer start(Flavour flavour, String... options) {
    return start(flavour, Version.USUAL, options);
  }

  /** As {@link #start(Flavour, String...)}, with another version. */
  public static MySqlServer start(Flavour flavour, Version version, String... options) {
    return new MySqlServer(flavour, version, List.of(options), null);
  }

  /**
   * As {@link #start(Flavour, String...)}, with a wall clock that {@link ClockLibrary#move} sets.
   *
   * @param clock set before
   */
  public static MySqlServer startWithClock(Flavour flavour, Path clock) {
    return new MySqlServer(flavour, Version.USUAL, List.of(), clock);
  }

  /**
   * Of {@link #DATABASE}, without user and password. MariaDB 10 has no certificate unless it is
   * given one, and its driver insists on TLS unless told not to.
   */
  public String jdbcUrl() {
    String url = "jdbc:" + flavour.program() + "://" + host() + ":" + port() + "/" + DATABASE;
    return version.number().startsWith("10.") ? url + "?sslMode=disable" : url;
  }

  /** As {@link #jdbcUrl}, as seen at {@code port}, with user and password, and without TLS. */
  public String plainUrl(int port) {
    String off = flavour == Flavour.MYSQL ? "DISABLED" : "disable";
    return "jdbc:"
        + flavour.program()
        + "://"
        + host()
        + ":"
        + port
        + "/"
        + DATABASE
        + "?user="
        + USER
        + "&password="
        + PASSWORD
        + "&sslMode="
        + off
        + "&allowPublicKeyRetrieval=true";
  }

  @Override
  Map<String, String> environment() {
    return clock == null ? Map.of() : ClockLibrary.movedBy(clock);
  }

  @Override
  List<String> command() {
    List<String> command = common();
    command.add("--port=" + port());
    command.add("--bind-address=" + host());
    command.add("--socket=" + folder().resolve("server.sock"));
    command.add("--pid-file=" + pidFile());
    command.add("--init-file=" + initFile());
    command.add("--skip-name-resolve");
    if (flavour == Flavour.MYSQL) {
      command.add("--mysqlx=0");
    }
    command.addAll(options);
    return command;
  }

  @Override
  boolean answers() throws IOException {
    if (Files.notExists(pidFile()) || !Files.readString(pidFile()).strip().equals("" + pid())) {
      return false;
    }
    try (Socket socket = new Socket(host(), port())) {
      socket.setSoTimeout(GREETING_MILLIS);
      byte[] greeting = socket.getInputStream().readNBytes(5);
      return greeting.length == 5 && greeting[4] == PROTOCOL;
    }
  }

  private void makeSystemTables() throws IOException {
    List<String> command = common();
    if (flavour == Flavour.MYSQL) {
      command.add("--initialize-insecure");
      prepare(command, NO_INPUT);
      return;
    }
    Files.createDirectories(data());
    StringBuilder sql = new StringBuilder("CREATE DATABASE mysql;\nUSE mysql;\n");
    sql.append("SET @auth_root_socket=NULL;\n");
    Path share = share();
    String prefix =
        Files.exists(share.resolve("mariadb" + MARIADB_TABLES.get(0))) ? "mariadb" : "mysql";
    for (String file : MARIADB_TABLES) {
      try (InputStream tables = Files.newInputStream(share.resolve(prefix + file))) {
        sql.append(new String(tables.readAllBytes(), UTF_8)).append('\n');
      }
    }
    Path bootstrap = Files.writeString(folder().resolve("bootstrap.sql"), sql);
    command.add("--bootstrap");
    prepare(command, bootstrap);
  }

  private List<String> common() {
    List<String> command = new ArrayList<>(List.of(program.toString(), "--no-defaults"));
    command.add("--user=" + System.getProperty("user.name"));
    command.add("--datadir=" + data());
    // A MariaDB that starts removes what it takes for another's leftovers in the common one.
    command.add("--tmpdir=" + folder());
    Path share = share();
    command.add("--lc-messages-dir=" + share);
    command.add("--character-sets-dir=" + share.resolve("charsets"));
    Path plugins = program.resolveSibling("../lib/mysql/plugin").normalize();
    if (Files.isDirectory(plugins)) {
      command.add("--plugin-dir=" + plugins);
    }
    command.add(flavour == Flavour.MYSQL ? "--secure-file-priv=NULL" : "--skip-log-bin");
    return command;
  }

  /** Beside the program: usr/sbin/mysqld has usr/share/mysql, or usr/share. */
  private Path share() {
    Path share = program.resolveSibling("../share").normalize();
    return Stream.of(flavour.program(), "mysql", "")
        .map(share::resolve)
        .filter(folder -> Files.exists(folder.resolve("charsets")))
        .findFirst()
        .orElseThrow(() -> new ServerException("no charsets below " + share));
  }

  private Path data() {
    return folder().resolve("data");
  }

  private Path pidFile() {
    return folder().resolve("server.pid");
  }

  private Path initFile() {
    return folder().resolve("init.sql");
  }
}
