package io.pawl.servers;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A ZooKeeper server: alone, or a member of a {@link ZooKeeperEnsemble}. It runs from the jars of
 * {@code org.apache.zookeeper:zookeeper}, {@code io.dropwizard.metrics:metrics-core} and {@code
 * org.xerial.snappy:snappy-java} on this process's own class path, in a JVM of its own.
 */
public final class ZooKeeperServer extends ServerProcess {
  private static final int ANSWER_MILLIS = 2_000;
  private static final int DEFAULT_TICK_MILLIS = 2_000;

  private static final String MAIN = "org.apache.zookeeper.server.quorum.QuorumPeerMain";

  private static final List<String> NEEDED =
      List.of(
          MAIN,
          "org.apache.jute.Record",
          "com.codahale.metrics.Reservoir",
          "org.xerial.snappy.SnappyInputStream",
          "org.slf4j.LoggerFactory");

  /** A log, and what classes of the server mention, though it listens without Netty. */
  private static final List<String> MENTIONED =
      List.of(
          "org.slf4j.simple.SimpleLogger",
          "io.netty.buffer.ByteBuf",
          "io.netty.channel.Channel",
          "io.netty.channel.epoll.Epoll",
          "io.netty.channel.unix.Unix",
          "io.netty.handler.ssl.SslContext",
          "io.netty.handler.codec.ByteToMessageDecoder",
          "io.netty.resolver.AddressResolver",
          "io.netty.util.concurrent.Future");

  /** Where a member of an ensemble is for the others. */
  record Member(int id, Port quorum, Port election) {
    String line() {
      return "server."
          + id
          + "="
          + Port.HOST
          + ":"
          + quorum.number()
          + ":"
          + election.number()
          + ":participant";
    }
  }

  private final List<String> ensemble;
  private final List<String> options;
  private final Map<String, String> environment;
  private final int id;
  private final @Nullable Port secure;
  private final @Nullable Certificates certificates;

  private ZooKeeperServer(
      int id,
      List<String> ensemble,
      List<String> options,
      Map<String, String> environment,
      boolean tls) {
    super("zookeeper");
    this.id = id;
    this.ensemble = ensemble;
    this.options = options;
    this.environment = environment;
    try {
      this.secure = tls ? Port.reserve() : null;
      this.certificates = tls ? Certificates.in(folder()) : null;
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  /**
   * Starts a server that stands alone.
   *
   * @param options further lines of its configuration, such as {@code tickTime=100}, and arguments
   *     of its JVM, such as {@code -Xmx1g}
   */
  public static ZooKeeperServer start(String... options) {
    return start(data -> {}, options);
  }

  /** As {@link #start(String...)}, with data that {@code prepare} has put into its folder. */
  public static ZooKeeperServer start(Consumer<Path> prepare, String... options) {
    return started(prepare, Map.of(), false, options);
  }

  /** As {@link #start(String...)}, with a wall clock that is {@code ahead} of this machine's. */
  public static ZooKeeperServer startWithClock(Duration ahead, String... options) {
    return started(data -> {}, ClockLibrary.ahead(ahead), false, options);
  }

  /**
   * As {@link #start(String...)}, for clients with TLS on a {@linkplain #securePort port of its
   * own}; {@link #certificates} has what they trust.
   */
  public static ZooKeeperServer startWithTls(String... options) {
    return started(data -> {}, Map.of(), true, options);
  }

  private static ZooKeeperServer started(
      Consumer<Path> prepare, Map<String, String> environment, boolean tls, String... options) {
    ZooKeeperServer server = new ZooKeeperServer(0, List.of(), List.of(options), environment, tls);
    try {
      server.configure(prepare);
      server.launch();
      return server;
    } catch (RuntimeException e) {
      server.close();
      throw e;
    }
  }

  /** A member that has yet to be launched. */
  static ZooKeeperServer member(int id, List<String> ensemble, List<String> options) {
    return new ZooKeeperServer(id, ensemble, options, Map.of(), false);
  }

  void configure(Consumer<Path> prepare) {
    List<String> lines = new ArrayList<>();
    Path data = folder().resolve("data");
    lines.add("dataDir=" + data);
    lines.add("clientPort=" + port());
    lines.add("clientPortAddress=" + host());
    lines.add("maxClientCnxns=0");
    lines.add("admin.enableServer=false");
    lines.add("4lw.commands.whitelist=*");
    if (!isSet("tickTime", options)) {
      lines.add("tickTime=" + DEFAULT_TICK_MILLIS);
    }
    options.stream().filter(option -> !isOfJvm(option)).forEach(lines::add);
    if (secure != null && certificates != null) {
      lines.add("secureClientPort=" + secure.number());
      lines.add("secureClientPortAddress=" + host());
      lines.add("serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory");
      lines.add("ssl.keyStore.location=" + certificates.keyStore());
      lines.add("ssl.keyStore.password=" + Certificates.STORE_PASSWORD);
      lines.add("ssl.clientAuth=none");
    }
    if (!ensemble.isEmpty()) {
      lines.addAll(ensemble);
    }
    try {
      Files.createDirectories(data);
      if (!ensemble.isEmpty()) {
        Files.writeString(data.resolve("myid"), Integer.toString(id));
      }
      Files.write(configuration(), lines);
      prepare.accept(data);
    } catch (IOException e) {
      throw new ServerException("cannot configure " + this, e);
    }
  }

  private Path configuration() {
    return folder().resolve("zoo.cfg");
  }

  /** Returns {@code host:port}. */
  public String address() {
    return host() + ":" + port();
  }

  /**
   * Returns the port for clients with TLS.
   *
   * @throws IllegalStateException if it was started without TLS
   */
  public int securePort() {
    if (secure == null) {
      throw new IllegalStateException(this + " has no TLS");
    }
    return secure.number();
  }

  /** Returns {@code host:port} for clients with TLS. */
  public String secureAddress() {
    return host() + ":" + securePort();
  }

  /**
   * Returns its certificate.
   *
   * @throws IllegalStateException if it was started without TLS
   */
  public Certificates certificates() {
    if (certificates == null) {
      throw new IllegalStateException(this + " has no TLS");
    }
    return certificates;
  }

  /** Returns the folder of its transaction log and snapshots. */
  public Path data() {
    return folder().resolve("data");
  }

  /** Returns {@code leader}, {@code follower} or {@code standalone}; empty if it serves nobody. */
  public String mode() {
    try {
      for (String line : ask("srvr").split("\n", -1)) {
        if (line.startsWith("Mode: ")) {
          return line.substring("Mode: ".length()).strip();
        }
      }
    } catch (IOException e) {
      return "";
    }
    return "";
  }

  /** Sends one of ZooKeeper's words of four letters, and returns the answer. */
  public String ask(String word) throws IOException {
    try (Socket socket = new Socket()) {
      socket.connect(new InetSocketAddress(host(), port()), ANSWER_MILLIS);
      socket.setSoTimeout(ANSWER_MILLIS);
      socket.getOutputStream().write(word.getBytes(StandardCharsets.US_ASCII));
      socket.getOutputStream().flush();
      try (InputStream answer = socket.getInputStream()) {
        return new String(answer.readAllBytes(), StandardCharsets.UTF_8);
      }
    }
  }

  @Override
  List<String> command() {
    Set<String> jars = new LinkedHashSet<>();
    NEEDED.forEach(name -> jars.add(jarOf(name)));
    for (String name : MENTIONED) {
      try {
        jars.add(jarOf(name));
      } catch (ServerException mentionedOnly) {
        continue;
      }
    }
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-Xmx160m");
    command.add("-XX:+UseSerialGC");
    command.add("-XX:TieredStopAtLevel=1");
    command.add("-XX:-UsePerfData");
    command.add("-Dzookeeper.forceSync=no"); // nobody pulls the plug
    command.add("-Dzookeeper.jmx.log4j.disable=true");
    command.add("-Dorg.slf4j.simpleLogger.defaultLogLevel=warn");
    options.stream().filter(ZooKeeperServer::isOfJvm).forEach(command::add);
    command.add("-cp");
    command.add(String.join(File.pathSeparator, jars));
    command.add(MAIN);
    command.add(configuration().toString());
    return command;
  }

  @Override
  Map<String, String> environment() {
    return environment;
  }

  /** How long a tick of a server with these options is. */
  static int tickMillis(List<String> options) {
    return options.stream()
        .filter(option -> isSet("tickTime", List.of(option)))
        .map(option -> Integer.parseInt(option.substring("tickTime=".length()).strip()))
        .findFirst()
        .orElse(DEFAULT_TICK_MILLIS);
  }

  static boolean isSet(String name, List<String> options) {
    return options.stream().anyMatch(option -> option.startsWith(name + "="));
  }

  private static boolean isOfJvm(String option) {
    return option.startsWith("-");
  }

  private static String jarOf(String type) {
    try {
      Class<?> found = Class.forName(type, false, ZooKeeperServer.class.getClassLoader());
      return Path.of(found.getProtectionDomain().getCodeSource().getLocation().toURI()).toString();
    } catch (ClassNotFoundException e) {
      throw new ServerException(
          type
              + " is not on the class path; add org.apache.zookeeper:zookeeper,"
              + " io.dropwizard.metrics:metrics-core and org.xerial.snappy:snappy-java in scope"
              + " test",
          e);
    } catch (URISyntaxException e) {
      throw new ServerException("cannot find the jar of " + type, e);
    }
  }

  @Override
  public void close() {
    super.close();
    if (secure != null) {
      secure.close();
    }
  }

  /** A member of an ensemble is up before it serves: it waits for the others. */
  @Override
  boolean answers() throws IOException {
    return !ensemble.isEmpty() || mode().equals("standalone");
  }
}
