package io.pawl.servers;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.pawl.servers.RespConnection.RespException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URLEncoder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A Redis or Valkey server: {@code RedisServer.setup().password("secret").start()}. */
public final class RedisServer extends ServerProcess {
  /** The program that is the server. */
  public enum Flavour {
    REDIS,
    VALKEY;

    String program() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  private final Path program;
  private final boolean sentinel;
  private final @Nullable String password;
  private final @Nullable Certificates certificates;
  private final @Nullable Path clockLibrary;

  private RedisServer(Setup setup) {
    super(setup.sentinel ? "sentinel" : setup.flavour.program());
    try {
      this.program = ServerProgram.of(setup.flavour.program());
      this.sentinel = setup.sentinel;
      this.password = setup.password;
      this.certificates = setup.tls ? setup.certificates(folder()) : null;
      this.clockLibrary = setup.movableClock ? ClockLibrary.path() : null;
      Files.writeString(clockFile(), "+0");
      Files.write(configFile(), config(setup));
    } catch (IOException e) {
      close();
      throw new ServerException("cannot configure " + this, e);
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  private Path clockFile() {
    return folder().resolve("clock");
  }

  /** jemalloc asks for the time before libfaketime is ready: the C library's malloc takes over. */
  @Override
  Map<String, String> environment() {
    return clockLibrary == null
        ? Map.of()
        : Map.of(
            "LD_PRELOAD",
            clockLibrary + " libc.so.6",
            "FAKETIME_TIMESTAMP_FILE",
            clockFile().toString(),
            "FAKETIME_NO_CACHE",
            "1",
            "FAKETIME_DONT_FAKE_MONOTONIC",
            "1");
  }

  /**
   * Moves the clock of a server {@linkplain Setup#movableClock set up} for it to {@code ahead} of
   * this machine's, at once, as an administrator or a broken time service does.
   */
  public void moveClock(Duration ahead) {
    if (clockLibrary == null) {
      throw new IllegalStateException(this + " was set up without a movable clock");
    }
    try {
      Path next = Files.writeString(folder().resolve("clock.next"), "+" + ahead.toSeconds());
      Files.move(next, clockFile(), StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Starts a plain server: in memory, without a password. */
  public static RedisServer start() {
    return setup().start();
  }

  public static Setup setup() {
    return new Setup();
  }

  /** The settings of a server before it starts; in memory and without a password unless set. */
  public static final class Setup {
    private final List<String> lines = new ArrayList<>();
    private Flavour flavour = Flavour.REDIS;
    private boolean sentinel;
    private boolean persistent;
    private boolean tls;
    private boolean cluster;
    private boolean movableClock;
    private @Nullable String password;
    private @Nullable RedisServer primary;
    private @Nullable RedisServer sameCertificate;

    private Setup() {}

    private Certificates certificates(Path folder) {
      return sameCertificate == null ? Certificates.in(folder) : sameCertificate.certificates();
    }

    public Setup flavour(Flavour flavour) {
      this.flavour = flavour;
      return this;
    }

    /** Makes each write reach the disk before it is acknowledged. */
    public Setup persistent() {
      persistent = true;
      return this;
    }

    /** Sets the password of the default user. */
    public Setup password(String password) {
      this.password = password;
      return this;
    }

    /** Adds a user, for instance with the rules {@code "~*", "&*", "+@all", "-flushall"}. */
    public Setup user(String name, String password, String... rules) {
      List<String> words = new ArrayList<>(List.of("user", name, "on", ">" + password));
      words.addAll(List.of(rules));
      lines.add(line(words));
      return this;
    }

    /** Gives the server a clock of its own; see {@link RedisServer#moveClock}. */
    public Setup movableClock() {
      movableClock = true;
      return this;
    }

    /** Serves only TLS; clients need {@link RedisServer#certificates()}. */
    public Setup tls() {
      tls = true;
      return this;
    }

    /**
     * Makes the server a replica of {@code primary}, with its password; both with TLS or both
     * without.
     */
    public Setup replicaOf(RedisServer primary) {
      this.primary = primary;
      return this;
    }

    /**
     * Makes the server a node of a cluster, without slots so far; {@link RedisCluster} starts whole
     * clusters.
     */
    public Setup clusterNode() {
      cluster = true;
      return this;
    }

    /** Adds any other line of the configuration file. */
    public Setup setting(String name, String... values) {
      List<String> words = new ArrayList<>(List.of(name));
      words.addAll(List.of(values));
      lines.add(line(words));
      return this;
    }

    /** Where it has TLS, with the certificate of {@code other}, so that they trust one another. */
    Setup certificateOf(RedisServer other) {
      sameCertificate = other;
      return this;
    }

    Setup sentinel() {
      sentinel = true;
      return this;
    }

    /** Starts the server and returns once it serves; a replica, once it has caught up. */
    public RedisServer start() {
      RedisServer server = new RedisServer(this);
      try {
        server.launch();
        if (primary != null) {
          Await.until(
              () -> server.text("INFO", "replication").contains("master_link_status:up"),
              () -> server + " was not in step with " + primary);
        }
        return server;
      } catch (RuntimeException e) {
        server.close();
        throw e;
      }
    }
  }

  /** Returns the certificate that a client of a server with TLS must trust. */
  public Certificates certificates() {
    if (certificates == null) {
      throw new IllegalStateException(this + " was set up without TLS");
    }
    return certificates;
  }

  /** Returns the URL that a client connects to as the default user, password included. */
  public String url() {
    String user =
        password == null ? "" : ":" + URLEncoder.encode(password, UTF_8).replace("+", "%20") + "@";
    return (certificates == null ? "redis://" : "rediss://") + user + host() + ":" + port();
  }

  /**
   * Returns once {@code replica} has all that was written here until now. A WAIT would not tell: it
   * speaks of what its own connection has written.
   */
  public void awaitReplicated(RedisServer replica) {
    long written = replicationOffset();
    Await.until(
        () -> replica.replicationOffset() >= written, () -> replica + " does not follow " + this);
  }

  private long replicationOffset() {
    return text("INFO", "replication")
        .lines()
        .filter(line -> line.startsWith("master_repl_offset:"))
        .mapToLong(line -> Long.parseLong(line.substring(line.indexOf(':') + 1).trim()))
        .findFirst()
        .orElse(-1);
  }

  /** Whether it is a replica in step with the primary at {@code port}. */
  boolean replicates(int port) {
    try {
      String state = text("INFO", "replication");
      return state.contains("master_port:" + port + "\r\n")
          && state.contains("master_link_status:up");
    } catch (UncheckedIOException e) {
      return false; // it has ended our connection as its role changed
    }
  }

  /** Whether it takes itself for a primary; one that has just become one may end our connection. */
  public boolean isPrimary() {
    try {
      return text("ROLE").startsWith("[master");
    } catch (UncheckedIOException e) {
      return false;
    }
  }

  /**
   * Starts a proxy before it, at whose port other servers and clients are sent to it.
   *
   * @param setting that names the port
   */
  FaultProxy announcedBy(String setting) {
    FaultProxy proxy = FaultProxy.before(this);
    call("CONFIG", "SET", setting, Integer.toString(proxy.port()));
    call("CONFIG", "REWRITE");
    return proxy;
  }

  /** Returns a new connection, as the default user. */
  public RespConnection connect() throws IOException {
    RespConnection connection =
        certificates == null
            ? RespConnection.open(host(), port())
            : RespConnection.open(host(), port(), certificates.sslContext());
    if (password != null) {
      try {
        connection.call("AUTH", password);
      } catch (RespException | UncheckedIOException e) {
        connection.close();
        throw e;
      }
    }
    return connection;
  }

  /** Returns the reply to one command, sent as the default user on a connection of its own. */
  public @Nullable Object call(String... command) {
    try (RespConnection connection = connect()) {
      return connection.call(command);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** As {@link #call}, for a reply that is text or a number. */
  public String text(String... command) {
    return String.valueOf(call(command));
  }

  /** As {@link #call}, for a reply that is a list, an empty one if there is none. */
  public List<?> list(String... command) {
    return call(command) instanceof List<?> list ? list : List.of();
  }

  @Override
  List<String> command() {
    List<String> command = new ArrayList<>(List.of(program.toString(), configFile().toString()));
    if (sentinel) {
      command.add("--sentinel");
    }
    return command;
  }

  @Override
  boolean answers() throws IOException {
    try (RespConnection connection = connect()) {
      connection.call("PING");
      // On our port, but is it us?
      String info = String.valueOf(connection.call("INFO", "server"));
      return info.contains("process_id:" + pid() + "\r\n");
    } catch (RespException e) {
      return e.code().startsWith("NO") || e.code().equals("WRONGPASS"); // it serves, though not us
    }
  }

  private Path configFile() {
    return folder().resolve("server.conf");
  }

  private List<String> config(Setup setup) {
    List<String> config = new ArrayList<>();
    config.add("bind " + host());
    config.add("dir " + folder());
    config.add((certificates == null ? "port " : "port 0\ntls-port ") + port());
    if (certificates != null) {
      config.add("tls-cert-file " + certificates.certificatePem());
      config.add("tls-key-file " + certificates.keyPem());
      config.add("tls-ca-cert-file " + certificates.certificatePem());
      config.add("tls-auth-clients no");
    }
    if (!sentinel) {
      config.add("save \"\"");
      config.add("appendonly " + (setup.persistent ? "yes" : "no"));
      config.add("appendfsync always");
      config.add("repl-diskless-sync-delay 0");
    }
    if (password != null) {
      config.add(line(List.of("requirepass", password)));
    }
    if (setup.cluster) {
      config.add("cluster-enabled yes");
      config.add("cluster-node-timeout 2000");
      config.add("tls-cluster " + (certificates == null ? "no" : "yes"));
    }
    if (setup.primary != null) {
      config.addAll(replication(setup.primary));
    }
    config.addAll(setup.lines);
    return config;
  }

  private List<String> replication(RedisServer primary) {
    List<String> lines = new ArrayList<>();
    lines.add("replicaof " + primary.host() + " " + primary.port());
    if (primary.password != null) {
      lines.add(line(List.of("masterauth", primary.password)));
    }
    if (primary.certificates != null) {
      lines.add("tls-replication yes");
      lines.add("tls-ca-cert-file " + primary.certificates.certificatePem());
    }
    return lines;
  }

  /** One line of configuration, its words quoted so that each stays one. */
  private static String line(List<String> words) {
    StringBuilder line = new StringBuilder();
    for (String word : words) {
      String escaped = word.replace("\\", "\\\\").replace("\"", "\\\"");
      line.append(line.isEmpty() ? "" : " ").append('"').append(escaped).append('"');
    }
    return line.toString();
  }
}
