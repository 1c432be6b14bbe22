package io.pawl.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A member of an etcd cluster: the only one, or one of an {@link EtcdCluster}. */
public final class EtcdServer extends ServerProcess {
  private static final Duration TIMEOUT = Duration.ofSeconds(5);

  private final Path program;
  private final String name;
  private final Port peers;
  private final Supplier<String> members;
  private final List<String> options;
  private final @Nullable Certificates certificates;
  private final HttpClient http;

  private EtcdServer(
      String name, Port peers, Supplier<String> members, boolean tls, List<String> options) {
    super("etcd");
    this.name = name;
    this.peers = peers;
    this.members = members;
    this.options = options;
    try {
      this.program = ServerProgram.of("etcd");
      this.certificates = tls ? Certificates.in(folder()) : null;
      HttpClient.Builder client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1);
      this.http =
          certificates == null
              ? client.build()
              : client.sslContext(certificates.sslContext()).build();
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  /** Starts a cluster of one with further options, such as {@code --heartbeat-interval=50}. */
  public static EtcdServer start(String... options) {
    return started(false, options);
  }

  /** As {@link #start}, for clients with TLS; {@link #certificates} has what they trust. */
  public static EtcdServer startWithTls(String... options) {
    return started(true, options);
  }

  private static EtcdServer started(boolean tls, String... options) {
    Port peers = Port.reserve();
    EtcdServer server =
        new EtcdServer("pawl", peers, () -> "pawl=" + url(peers), tls, List.of(options));
    try {
      server.launch();
      return server;
    } catch (RuntimeException e) {
      server.close();
      throw e;
    }
  }

  /** A member that has yet to be launched, together with the others. */
  static EtcdServer member(
      String name, Port peers, Supplier<String> members, List<String> options) {
    return new EtcdServer(name, peers, members, false, options);
  }

  static String url(Port port) {
    return "http://" + Port.HOST + ":" + port.number();
  }

  /** Returns etcd's command line, which is written in Go over etcd's own client. */
  public static Path etcdctl() {
    return ServerProgram.of("etcdctl");
  }

  /** Returns the address that a client connects to. */
  public String endpoint() {
    return (certificates == null ? "http://" : "https://") + host() + ":" + port();
  }

  /**
   * @throws IllegalStateException if it was started without TLS
   */
  public Certificates certificates() {
    if (certificates == null) {
      throw new IllegalStateException(this + " has no TLS");
    }
    return certificates;
  }

  /** Posts {@code body} to the gateway and returns the answer, whatever its status. */
  public String post(String path, String body) {
    return post(path, body, null);
  }

  /** As {@link #post(String, String)}, with a token of authentication. */
  public String post(String path, String body, @Nullable String token) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(endpoint() + path))
            .timeout(TIMEOUT)
            .POST(BodyPublishers.ofString(body));
    if (token != null) {
      request.header("Authorization", token);
    }
    try {
      return http.send(request.build(), BodyHandlers.ofString()).body();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ServerException("interrupted while asking " + this, e);
    }
  }

  /** Returns whether it leads its cluster. */
  public boolean leads() {
    String status = post("/v3/maintenance/status", "{}");
    String self = field(status, "member_id");
    return !self.isEmpty() && self.equals(field(status, "leader"));
  }

  /** The text of the first field of that name. */
  private static String field(String json, String name) {
    int at = json.indexOf("\"" + name + "\":\"");
    int start = at + name.length() + 4;
    return at < 0 ? "" : json.substring(start, json.indexOf('"', start));
  }

  /** Writes a backup of its data. */
  public Path save() {
    Path backup = folder().resolve("backup-" + UUID.randomUUID());
    try {
      Process saving =
          new ProcessBuilder(
                  etcdctl().toString(),
                  "--endpoints=" + endpoint(),
                  "snapshot",
                  "save",
                  backup.toString())
              .redirectErrorStream(true)
              .start();
      String said = new String(saving.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (saving.waitFor() != 0) {
        throw new ServerException("cannot save " + this + ": " + said.strip());
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ServerException("interrupted while saving " + this, e);
    }
    return backup;
  }

  /** Kills it, and starts it with the data of a backup: a new cluster of the same id. */
  public void restore(Path backup) {
    kill();
    Path spent = folder().resolve("spent-" + UUID.randomUUID());
    try {
      Files.move(data(), spent);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    prepare(
        List.of(
            etcdctl().toString(),
            "snapshot",
            "restore",
            backup.toString(),
            "--name=" + name,
            "--data-dir=" + data(),
            "--initial-cluster=" + members.get(),
            "--initial-advertise-peer-urls=" + url(peers)),
        NO_INPUT);
    restart();
  }

  private Path data() {
    return folder().resolve("data");
  }

  @Override
  List<String> command() {
    List<String> command = new ArrayList<>(List.of(program.toString(), "--name=" + name));
    command.add("--data-dir=" + data());
    command.add("--listen-client-urls=" + endpoint());
    command.add("--advertise-client-urls=" + endpoint());
    command.add("--listen-peer-urls=" + url(peers));
    command.add("--initial-advertise-peer-urls=" + url(peers));
    command.add("--initial-cluster=" + members.get());
    if (certificates != null) {
      command.add("--cert-file=" + certificates.certificatePem());
      command.add("--key-file=" + certificates.keyPem());
    }
    command.addAll(options);
    return command;
  }

  @Override
  boolean answers() throws IOException {
    HttpRequest health =
        HttpRequest.newBuilder(URI.create(endpoint() + "/health")).timeout(TIMEOUT).build();
    try {
      return http.send(health, BodyHandlers.ofString()).statusCode() == 200;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }

  @Override
  public void close() {
    super.close();
    peers.close();
  }
}
