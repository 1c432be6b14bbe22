package io.pawl.servers;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A PostgreSQL server with its own durable defaults. */
public final class PostgresServer extends ServerProcess {
  /** The database that is there from the start, and the user who may do everything. */
  public static final String DATABASE = "postgres";

  public static final String USER = "pawl";
  public static final String PASSWORD = "pawl-secret";

  private static final int STATUS_LINE = 7;
  private static final List<String> AS_NOBODY =
      List.of("unshare", "--user", "--map-user=65534", "--map-group=65534", "--");

  private static final int SMALL_MEGABYTES = 512;

  /** A log of changes in files of 1 MB, so that a new one is soon asked for. */
  private static final String SMALL_LOG_FILES = "--wal-segsize=1";

  private static final List<String> SMALL_LOG = List.of("min_wal_size=2MB", "max_wal_size=4MB");

  private final Path program;
  private final List<String> options;
  private final @Nullable SmallDisk disk;
  private final @Nullable Path clock;

  private PostgresServer(
      Version version, List<String> options, boolean onSmallDisk, @Nullable Path clock) {
    super("postgresql");
    this.options = options;
    this.clock = clock;
    try {
      this.program = ServerProgram.of(version.rowOf("postgresql"));
      Files.createDirectory(place());
      this.disk = onSmallDisk ? SmallDisk.on(place(), SMALL_MEGABYTES) : null;
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
    return new PostgresServer(version, List.of(settings), false, null);
  }

  /**
   * As {@link #start(String...)}, with a wall clock that {@link ClockLibrary#move} sets.
   *
   * @param clock set before
   */
  public static PostgresServer startWithClock(Path clock) {
    return new PostgresServer(Version.USUAL, List.of(), false, clock);
  }

  /** As {@link #start(String...)}, on a {@link #disk} of its own that can be filled up. */
  public static PostgresServer startOnSmallDisk() {
    return new PostgresServer(Version.USUAL, SMALL_LOG, true, null);
  }

  /** Starts it anew if it has ended by itself, and returns once it serves. */
  public void awaitServing() {
    Await.until(
        () -> {
          if (!isAlive()) {
            restart();
          }
          try {
            return answers();
          } catch (IOException e) {
            return false;
          }
        },
        () -> this + " did not serve again");
  }

  /** Returns the disk of a server that was {@linkplain #startOnSmallDisk started} on one. */
  public SmallDisk disk() {
    if (disk == null) {
      throw new IllegalStateException(this + " has no disk of its own");
    }
    return disk;
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
  Map<String, String> environment() {
    return clock == null ? Map.of() : ClockLibrary.movedBy(clock);
  }

  @Override
  List<String> command() {
    List<String> command = onDisk(program);
    command.addAll(List.of("-D", data().toString(), "-p", Integer.toString(port())));
    command.addAll(List.of("-h", host(), "-k", ""));
    for (String setting : options) {
      command.addAll(List.of("-c", setting));
    }
    return command;
  }

  @Override
  boolean answers() throws IOException {
    Path file = seen(data()).resolve("postmaster.pid");
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
    if (disk != null) {
      disk.close();
    }
  }

  private void makeDatabase() throws IOException {
    Path password = Files.writeString(folder().resolve("password"), PASSWORD);
    List<String> initdb = onDisk(program.resolveSibling("initdb"));
    initdb.addAll(List.of("-D", data().toString(), "-U", USER, "-A", "scram-sha-256"));
    initdb.addAll(List.of("--pwfile", password.toString()));
    initdb.addAll(List.of("-E", "UTF8", "--locale=C", "--no-sync"));
    if (disk != null) {
      initdb.add(SMALL_LOG_FILES);
    }
    prepare(initdb, NO_INPUT);
    Files.writeString(
        seen(data()).resolve("postgresql.auto.conf"), "dynamic_shared_memory_type = mmap\n");
  }

  private List<String> onDisk(Path some) {
    if (disk == null) {
      return notAsRoot(some);
    }
    List<String> command = new ArrayList<>(disk.entry()); // root is who enters it
    command.addAll(AS_NOBODY);
    command.add(some.toString());
    return command;
  }

  private Path seen(Path path) {
    return disk == null ? path : disk.seen(path);
  }

  /**
   * PostgreSQL refuses to run as root. In a user namespace root is another user to itself and still
   * the owner of our files.
   */
  static List<String> notAsRoot(Path program) {
    List<String> command = new ArrayList<>();
    if (System.getProperty("user.name").equals("root")) {
      command.addAll(AS_NOBODY);
    }
    command.add(program.toString());
    return command;
  }

  private Path data() {
    return place().resolve("data");
  }

  private Path place() {
    return folder().resolve("disk");
  }
}
