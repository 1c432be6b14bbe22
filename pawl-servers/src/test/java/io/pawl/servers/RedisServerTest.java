package io.pawl.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.servers.RedisServer.Flavour;
import io.pawl.servers.RespConnection.RespException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class RedisServerTest {
  @ParameterizedTest
  @EnumSource
  void eachFlavourServes(Flavour flavour) {
    try (RedisServer server = RedisServer.setup().flavour(flavour).start()) {
      assertThat(server.call("SET", "k", "v")).isEqualTo("OK");
      assertThat(server.call("GET", "k")).isEqualTo("v");
      assertThat(server.text("INFO", "server"))
          .contains(flavour == Flavour.REDIS ? "redis_version:7." : "valkey_version:8.");
    }
  }

  @Test
  void aClockMovesAtOnceAndThatOfOthersStays() {
    try (RedisServer server = RedisServer.setup().movableClock().start();
        RedisServer other = RedisServer.start()) {
      assertThat(seconds(server) - seconds(other)).isBetween(-60L, 60L);

      server.moveClock(Duration.ofHours(1));

      assertThat(seconds(server) - seconds(other)).isBetween(3_540L, 3_660L);
      assertThatThrownBy(() -> other.moveClock(Duration.ofHours(1)))
          .isInstanceOf(IllegalStateException.class);
    }
  }

  private static long seconds(RedisServer server) {
    return Long.parseLong(
        String.valueOf(server.list("EVAL", "return redis.call('TIME')", "0").get(0)));
  }

  @Test
  void pausedServerAnswersOnlyOnceItGoesOn() throws IOException {
    try (RedisServer server = RedisServer.start();
        RespConnection connection = server.connect()) {
      server.pause();
      connection.send("PING");
      assertThatThrownBy(() -> connection.read(Duration.ofMillis(50)))
          .isInstanceOf(SocketTimeoutException.class);
      server.resume();
      assertThat(connection.read(Duration.ofSeconds(10))).isEqualTo("PONG");
    }
  }

  @Test
  void killedServerIsGoneAndComesBackOnItsPortWithoutItsData() throws IOException {
    try (RedisServer server = RedisServer.start()) {
      server.call("SET", "k", "v");
      long firstPid = server.pid();
      server.kill();
      assertThat(server.isAlive()).isFalse();
      assertThatThrownBy(server::connect).isInstanceOf(ConnectException.class);
      server.restart();
      assertThat(server.pid()).isNotEqualTo(firstPid);
      assertThat(server.call("GET", "k")).isNull();
    }
  }

  @Test
  void persistentServerKeepsWhatItAcknowledgedThroughKillNine() {
    try (RedisServer server = RedisServer.setup().persistent().start()) {
      server.call("SET", "k", "v");
      server.kill();
      server.restart();
      assertThat(server.call("GET", "k")).isEqualTo("v");
    }
  }

  @Test
  void pausedServerCanBeStoppedKilledAndClosed() {
    RedisServer server = RedisServer.start();
    server.pause();
    server.stop();
    server.restart();
    server.pause();
    server.kill();
    server.restart();
    server.pause();
    server.close();
    assertThat(server.isAlive()).isFalse();
    assertThat(server.folder()).doesNotExist();
  }

  @Test
  void passwordAndUsersAreAskedFor() throws IOException {
    String password = "it \"is\" a secret";
    try (RedisServer server =
            RedisServer.setup()
                .password(password)
                .user("app", "app's own", "~pawl:*", "+@all", "-flushall")
                .start();
        RespConnection stranger = RespConnection.open(server.host(), server.port())) {
      assertThatThrownBy(() -> stranger.call("GET", "k"))
          .isInstanceOfSatisfying(
              RespException.class, error -> assertThat(error.code()).isEqualTo("NOAUTH"));
      stranger.call("AUTH", "app", "app's own");
      assertThat(stranger.call("SET", "pawl:k", "v")).isEqualTo("OK");
      assertThatThrownBy(() -> stranger.call("FLUSHALL")).hasMessageStartingWith("NOPERM");
      assertThat(server.call("GET", "pawl:k")).isEqualTo("v");
      assertThat(server.url()).startsWith("redis://:it%20%22is%22%20a%20secret@127.0.0.1:");
      server.restart();
      assertThat(server.call("PING")).isEqualTo("PONG");
    }
  }

  @ParameterizedTest
  @EnumSource
  void tlsServerIsTrustedByItsCertificateAlone(Flavour flavour) throws IOException {
    try (RedisServer server = RedisServer.setup().flavour(flavour).tls().password("p").start()) {
      assertThat(server.call("PING")).isEqualTo("PONG");
      assertThat(server.certificates().trustStore()).exists();
      assertThat(server.url()).startsWith("rediss://:p@");
      try (RespConnection plain = RespConnection.open(server.host(), server.port())) {
        assertThatThrownBy(() -> plain.call("PING")).isInstanceOf(Exception.class);
      }
    }
  }

  @Test
  void replicaIsInStepAndCanBePromoted() {
    try (RedisServer primary = RedisServer.setup().password("p").start();
        RedisServer replica = RedisServer.setup().replicaOf(primary).start()) {
      primary.call("SET", "k", "v");
      primary.awaitReplicated(replica);
      assertThat(replica.call("GET", "k")).isEqualTo("v");
      assertThatThrownBy(() -> replica.call("SET", "k", "w")).hasMessageStartingWith("READONLY");
      replica.pause();
      primary.call("SET", "k", "w");
      primary.kill();
      replica.resume();
      replica.call("REPLICAOF", "NO", "ONE");
      assertThat(replica.call("SET", "l", "v")).isEqualTo("OK");
    }
  }

  @Test
  void serverThatCannotStartSaysWhy() {
    assertThatThrownBy(() -> RedisServer.setup().setting("no-such-setting", "1").start())
        .isInstanceOf(ServerException.class)
        .hasMessageContaining("no-such-setting");
  }

  @Test
  void serverThatCannotBeHadSaysWhatToDo() {
    assertThatThrownBy(() -> ServerProgram.of("no-such-server"))
        .isInstanceOf(ServerException.class)
        .hasMessageContaining("no server is called 'no-such-server'");
  }

  @Test
  void nothingOutlivesAKilledJvm() throws IOException, InterruptedException {
    Process jvm =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
                Victim.class.getName())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    List<String> said = jvm.inputReader().lines().limit(2).toList();
    ProcessHandle server = ProcessHandle.of(Long.parseLong(said.get(0))).orElseThrow();
    jvm.destroyForcibly().waitFor();
    Await.until(() -> !server.isAlive(), () -> "the server outlived its JVM");
    Await.until(() -> Files.notExists(Path.of(said.get(1))), () -> "the folder was left");
  }

  /** A JVM that starts a server and waits to be killed. */
  static final class Victim {
    public static void main(String[] args) throws InterruptedException {
      RedisServer server = RedisServer.start();
      System.out.println(server.pid() + "\n" + server.folder());
      Thread.currentThread().join();
    }
  }

  @Test
  void subscriberGetsPushes() throws IOException {
    try (RedisServer server = RedisServer.start();
        RespConnection subscriber = server.connect()) {
      subscriber.call("HELLO", "3");
      subscriber.send("SUBSCRIBE", "bell");
      Duration patience = Duration.ofSeconds(10);
      assertThat(subscriber.read(patience))
          .isEqualTo(new RespConnection.Push(List.of("subscribe", "bell", 1L)));
      server.call("PUBLISH", "bell", "ring");
      assertThat(subscriber.read(patience))
          .isEqualTo(new RespConnection.Push(List.of("message", "bell", "ring")));
    }
  }
}
