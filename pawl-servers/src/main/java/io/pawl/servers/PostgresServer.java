package io.pawl.servers;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A PostgreSQL server with its own durable defaults. */
public final class PostgresServer extends ServerProcess {
  /** The database that is there from the start, and the user who may do everything. */
  public static final String DATABASE = "postgres";

  public static final String USER = "pawl";
  public static final String PASSWORD = "pawl-secret";

  private static final int STATUS_LINE = 7;

  private final Path program;
  private final List<String> options;

  private PostgresServer(Version version, List<String> options) {
    super("postgresql");
    this.options = options;
    try {
      this.program = ServerProgram.of(version.rowOf("postgresql"));
      makeDatabase();
      launch();
    } catch (IOException e) {
      close();
      throw new ServerException("cannot set up " + this, e);
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  /** Starts a server with further settings, such as {@code deadlock_timeout=100ms}. */
  public static PostgresServer start(String... settings) {
    return start(Version.USUAL, settings);
  }

  /** As {@link #start(String...)}, with another version. */
  public static PostgresServer start(Version version, String... settings) {
    return new PostgresServer(version, List.of(settings));
  }

  /** Of {@link #DATABASE}, without user and password. */
  public String jdbcUrl() {
    return "jdbc:postgresql://" + host() + ":" + port() + "/" + DATABASE;
  }

  /** As {@link #jdbcUrl}, as seen at {@code port}, with user and password, and without TLS. */
  public String plainUrl(int port) {
    String place = "jdbc:postgresql://" + host() + ":" + port + "/" + DATABASE;
    return place + "?user=" + USER + "&password=" + PASSWORD + "&sslmode=disable";
  }

  @Override
  List<String> command() {
    List<String> command = notAsRoot(program);
    command.addAll(List.of("-D", data().toString(), "-p", Integer.toString(port())));
    command.addAll(List.of("-h", host(), "-k", ""));
    for (String setting : options) {
      command.addAll(List.of("-c", setting));
    }
    return command;
  }

  @Override
  boolean answers() throws IOException {
    Path file = data().resolve("postmaster.pid");
    if (Files.notExists(file)) {
      return false;
    }
    List<String> lines = Files.readAllLines(file);
    return lines.size() > STATUS_LINE
        && lines.get(0).equals(Long.toString(pid()))
        && lines.get(STATUS_LINE).strip().equals("ready");
  }

  /** A fast shutdown, which does not wait for clients to leave. */
  @Override
  String stopSignal() {
    return "INT";
  }

  /** Stops in good order, since shared memory outlives a killed server. */
  @Override
  public void close() {
    stop();
    super.close();
  }

  private void makeDatabase() throws IOException {
    Path password = Files.writeString(folder().resolve("password"), PASSWORD);
    List<String> initdb = notAsRoot(program.resolveSibling("initdb"));
    initdb.addAll(List.of("-D", data().toString(), "-U", USER, "-A", "scram-sha-256"));
    initdb.addAll(List.of("--pwfile", password.toString()));
    initdb.addAll(List.of("-E", "UTF8", "--locale=C", "--no-sync"));
    prepare(initdb, NO_INPUT);
    Files.writeString(
        data().resolve("postgresql.auto.conf"), "dynamic_shared_memory_type = mmap\n");
  }

  /**
   * PostgreSQL refuses to run as root. In a user namespace root is another user to itself and still
   * the owner of our files.
   */
  static List<String> notAsRoot(Path program) {
    List<String> command = new ArrayList<>();
    if (System.getProperty("user.name").equals("root")) {
      command.addAll(List.of("unshare", "--user", "--map-user=65534", "--map-group=65534", "--"));
    }
    command.add(program.toString());
    return command;
  }

  private Path data() {
    return folder().resolve("data");
  }
}
