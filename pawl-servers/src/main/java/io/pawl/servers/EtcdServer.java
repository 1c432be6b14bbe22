package io.pawl.servers;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** A cluster of one etcd member. */
public final class EtcdServer extends ServerProcess {
  private static final Duration HEALTH_TIMEOUT = Duration.ofSeconds(2);
  private static final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  private final Path program;
  private final Port peers = Port.reserve();
  private final List<String> options;

  private EtcdServer(List<String> options) {
    super("etcd");
    this.options = options;
    try {
      this.program = ServerProgram.of("etcd");
      launch();
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  /** Starts a member with further options, such as {@code --heartbeat-interval=50}. */
  public static EtcdServer start(String... options) {
    return new EtcdServer(List.of(options));
  }

  /** Returns the address that a client connects to. */
  public String endpoint() {
    return "http://" + host() + ":" + port();
  }

  @Override
  List<String> command() {
    String peer = "http://" + host() + ":" + peers.number();
    List<String> command = new ArrayList<>(List.of(program.toString(), "--name=pawl"));
    command.add("--data-dir=" + folder().resolve("data"));
    command.add("--listen-client-urls=" + endpoint());
    command.add("--advertise-client-urls=" + endpoint());
    command.add("--listen-peer-urls=" + peer);
    command.add("--initial-advertise-peer-urls=" + peer);
    command.add("--initial-cluster=pawl=" + peer);
    command.addAll(options);
    return command;
  }

  @Override
  boolean answers() throws IOException {
    HttpRequest health =
        HttpRequest.newBuilder(URI.create(endpoint() + "/health")).timeout(HEALTH_TIMEOUT).build();
    try {
      return http.send(health, BodyHandlers.ofString()).body().contains("\"health\":\"true\"");
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
