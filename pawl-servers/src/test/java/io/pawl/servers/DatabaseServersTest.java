package io.pawl.servers;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.servers.fault.Child;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.ConnectException;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class DatabaseServersTest {
  @ParameterizedTest
  @EnumSource
  void mySqlServesAgainAfterEachEnd(MySqlServer.Flavour flavour) throws IOException {
    String version = flavour == MySqlServer.Flavour.MYSQL ? "9." : "11.8.";
    try (MySqlServer server = MySqlServer.start(flavour, "--max-connections=20")) {
      assertThat(greeting(server)).startsWith(version);
      assertThat(server.jdbcUrl()).endsWith(":" + server.port() + "/pawl");
      assertEachEnd(server);
      assertThat(greeting(server)).startsWith(version);
    }
  }

  /** One whose folder is gone would try again for ever. */
  @Test
  void nothingOutlivesAJvmThatIsKilledWhileItPreparesADatabase() {
    ServerProgram.of("mysql"); // fetched where need be
    AtomicReference<ProcessHandle> found = new AtomicReference<>();
    List<String> quiet = List.of("-Dorg.slf4j.simpleLogger.defaultLogLevel=warn");
    try (Child jvm =
        new Child("the JVM", quiet, Child.ownClassPath(), Preparing.class, List.of())) {
      long pid = (long) jvm.hear("pid", 60_000)[0];
      Await.until(
          () -> {
            found.set(prepared(pid));
            return found.get() != null;
          },
          () -> "no database is being prepared");

      jvm.kill();

      Await.until(() -> !found.get().isAlive(), () -> "the database outlived its JVM");
    } finally {
      Optional.ofNullable(found.get()).ifPresent(ProcessHandle::destroyForcibly);
    }
  }

  /** A JVM that is killed meanwhile. */
  static final class Preparing {
    public static void main(String[] args) {
      System.out.println("pid " + ProcessHandle.current().pid());
      MySqlServer.start(MySqlServer.Flavour.MYSQL);
    }
  }

  /** The database that a JVM prepares, once it has written the most of it. */
  private static @Nullable ProcessHandle prepared(long jvm) {
    return ProcessHandle.of(jvm).stream()
        .flatMap(ProcessHandle::descendants)
        .filter(DatabaseServersTest::hasWritten)
        .findFirst()
        .orElse(null);
  }

  private static boolean hasWritten(ProcessHandle process) {
    String option = "--datadir=";
    try {
      Path commandLine = Path.of("/proc", Long.toString(process.pid()), "cmdline");
      return Stream.of(Files.readString(commandLine).split("\0"))
          .filter(argument -> argument.startsWith(option))
          .anyMatch(
              it -> Files.exists(Path.of(it.substring(option.length()), "performance_schema")));
    } catch (IOException e) {
      return false;
    }
  }

  @Test
  void postgresServesAgainAfterEachEnd() throws IOException {
    try (PostgresServer server = PostgresServer.start("max_connections=20")) {
      assertThat(authenticationRequest(server)).isEqualTo("SCRAM-SHA-256");
      assertEachEnd(server);
      assertThat(authenticationRequest(server)).isEqualTo("SCRAM-SHA-256");
    }
  }

  @ParameterizedTest
  @CsvSource({"MYSQL, 8.0", "MARIADB, 10.11"})
  void anOlderMySqlIsOfTheVersionAskedFor(MySqlServer.Flavour flavour, String version)
      throws IOException {
    try (MySqlServer server = MySqlServer.start(flavour, Version.of(version))) {
      assertThat(greeting(server)).contains(version + ".");
    }
  }

  @Test
  void anOlderPostgresIsOfTheVersionAskedFor() throws IOException {
    try (PostgresServer server = PostgresServer.start(Version.of("13"))) {
      assertThat(server.folder().resolve("disk/data/PG_VERSION")).hasContent("13");
      assertThat(authenticationRequest(server)).isEqualTo("SCRAM-SHA-256");
    }
  }

  @Test
  void aDiskThatWasFullHasRoomAgainAndItsServerServes() throws IOException {
    try (PostgresServer server = PostgresServer.startOnSmallDisk()) {
      Path file = server.disk().seen(server.folder().resolve("disk/one-more"));
      server.disk().fill();
      assertThatThrownBy(() -> Files.write(file, new byte[100_000]))
          .hasMessageContaining("No space left");
      server.disk().free();
      Files.write(file, new byte[100_000]);
      server.kill();
      server.restart();
      server.awaitServing();
    }
  }

  @Test
  void pgBouncerServesAgainAfterEachEnd() throws IOException {
    try (PostgresServer server = PostgresServer.start();
        PgBouncer bouncer = PgBouncer.before(server, 5)) {
      assertThat(authenticationRequest(bouncer)).isEqualTo("SCRAM-SHA-256");
      assertEachEnd(bouncer);
      assertThat(authenticationRequest(bouncer)).isEqualTo("SCRAM-SHA-256");
    }
  }

  @Test
  void etcdKeepsItsDataThroughEachEnd() throws IOException, InterruptedException {
    try (EtcdServer server = EtcdServer.start()) {
      post(server, "put", "{\"key\":\"a2V5\",\"value\":\"dmFsdWU=\"}");
      assertEachEnd(server);
      assertThat(post(server, "range", "{\"key\":\"a2V5\"}")).contains("\"dmFsdWU=\"");
    }
  }

  private static void assertEachEnd(ServerProcess server) throws IOException {
    server.pause();
    try (Socket socket = new Socket(server.host(), server.port())) {
      socket.setSoTimeout(50);
      assertThatThrownBy(() -> socket.getInputStream().read())
          .isInstanceOf(SocketTimeoutException.class);
    }
    server.resume();
    server.kill();
    assertThatThrownBy(() -> new Socket(server.host(), server.port()).close())
        .isInstanceOf(ConnectException.class);
    server.restart();
    server.stop();
    assertThat(server.isAlive()).isFalse();
    server.restart();
  }

  /** The version in the first packet of a MySQL server. */
  private static String greeting(MySqlServer server) throws IOException {
    try (Socket socket = new Socket(server.host(), server.port())) {
      byte[] packet = socket.getInputStream().readNBytes(25);
      return new String(packet, 5, 20, US_ASCII);
    }
  }

  /** How a PostgreSQL server, or who stands before it, wants a user to prove who it is. */
  private static String authenticationRequest(ServerProcess server) throws IOException {
    byte[] parameters = ("user\0" + PostgresServer.USER + "\0\0").getBytes(US_ASCII);
    ByteBuffer startup = ByteBuffer.allocate(8 + parameters.length);
    startup.putInt(startup.capacity()).putInt(3 << 16).put(parameters);
    try (Socket socket = new Socket(server.host(), server.port())) {
      socket.getOutputStream().write(startup.array());
      DataInputStream in = new DataInputStream(socket.getInputStream());
      assertThat(in.read()).isEqualTo('R');
      byte[] body = in.readNBytes(in.readInt() - 4);
      return new String(body, 4, body.length - 6, US_ASCII);
    }
  }

  private static String post(EtcdServer server, String verb, String body)
      throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(server.endpoint() + "/v3/kv/" + verb))
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .build();
    return HttpClient.newHttpClient().send(request, BodyHandlers.ofString()).body();
  }
}
