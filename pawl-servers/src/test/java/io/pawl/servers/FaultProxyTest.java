package io.pawl.servers;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.pawl.servers.FaultProxy.AfterDrop;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class FaultProxyTest {

  /** The common pool has a single thread on two cores, on which one task would wait for another. */
  private static final Executor OWN_THREAD = task -> new Thread(task).start();

  private static final Duration PATIENCE = Duration.ofSeconds(20);
  private static final Duration A_MOMENT = Duration.ofMillis(50);

  private final RedisServer server = RedisServer.start();
  private final FaultProxy proxy = FaultProxy.before(server);

  @AfterEach
  void close() {
    proxy.close();
    server.close();
    await("its threads end, a moment after their pool says so")
        .untilAsserted(
            () ->
                assertThat(Thread.getAllStackTraces().keySet())
                    .noneMatch(thread -> thread.getName().startsWith("pawl-fault-proxy")));
  }

  @Test
  void wholeProxyPassesEverything() throws IOException {
    try (RespConnection connection = connect()) {
      String value = "x".repeat(3_000_000);
      assertThat(connection.call("SET", "k", value)).isEqualTo("OK");
      assertThat(connection.call("GET", "k")).isEqualTo(value);
      assertThat(proxy.connections()).isEqualTo(1);
    }
    await().until(() -> proxy.connections() == 0);
  }

  @Test
  void delayedBytesComeInOrderAndNoneIsMissing() throws IOException {
    proxy.delay(Direction.TO_SERVER, Duration.ofMillis(5));
    proxy.delay(Direction.TO_CLIENT, Duration.ofMillis(5));
    try (RespConnection connection = connect()) {
      for (int i = 0; i < 100; i++) {
        connection.send("ECHO", "e" + i);
      }
      for (int i = 0; i < 100; i++) {
        assertThat(connection.read(PATIENCE)).isEqualTo("e" + i);
      }
    }
  }

  @Test
  void delayedReplyIsNotThereYet() throws IOException {
    try (RespConnection connection = connect()) {
      connection.call("PING");
      proxy.delay(Direction.TO_CLIENT, Duration.ofHours(1));
      connection.send("INCR", "n");
      await().until(() -> "1".equals(server.call("GET", "n")));
      assertNothingComes(connection);
    }
  }

  @Test
  void throttledBytesTrickle() throws IOException {
    proxy.throttle(Direction.TO_CLIENT, 1);
    try (Socket client = new Socket(proxy.host(), proxy.port())) {
      client.getOutputStream().write("PING\r\n".getBytes(US_ASCII));
      InputStream in = client.getInputStream();
      assertThat(in.read()).isEqualTo('+');
      client.setSoTimeout((int) A_MOMENT.toMillis());
      assertThatThrownBy(() -> in.readNBytes(6)).isInstanceOf(SocketTimeoutException.class);
      client.setSoTimeout((int) PATIENCE.toMillis());
      proxy.throttle(Direction.TO_CLIENT, 1_000_000);
      assertThat(new String(in.readNBytes(6), US_ASCII)).endsWith("\r\n");
    }
  }

  @Test
  void requestsIntoABlackHoleNeverArrive() throws IOException {
    try (RespConnection connection = connect()) {
      connection.call("PING");
      proxy.blackHole(Direction.TO_SERVER);
      connection.send("SET", "k", "v");
      assertNothingComes(connection);
      assertThat(server.call("GET", "k")).isNull();
      proxy.heal();
      assertReset(connection);
    }
  }

  @Test
  void repliesIntoABlackHoleAreLostAndTheirRequestsApplied() throws IOException {
    try (RespConnection connection = connect()) {
      connection.call("PING");
      proxy.blackHole(Direction.TO_CLIENT);
      connection.send("SET", "k", "v");
      await().until(() -> "v".equals(server.call("GET", "k")));
      assertNothingComes(connection);
      proxy.heal();
      assertReset(connection);
    }
    try (RespConnection connection = connect()) {
      assertThat(connection.call("GET", "k")).isEqualTo("v");
    }
  }

  @Test
  void deadServerIsNotNoticedThroughABlackHole() throws IOException {
    try (RespConnection connection = connect()) {
      connection.call("PING");
      proxy.blackHole(Direction.TO_CLIENT);
      server.kill();
      assertNothingComes(connection);
    }
  }

  @Test
  void cutLineDeliversEverythingOnceHealed() throws IOException {
    try (RespConnection connection = connect()) {
      connection.call("PING");
      proxy.cut();
      connection.send("SET", "k", "v");
      assertNothingComes(connection);
      assertThat(server.call("GET", "k")).isNull();
      try (RespConnection late = connect()) {
        late.send("PING");
        assertNothingComes(late);
        proxy.heal();
        assertThat(late.read(PATIENCE)).isEqualTo("PONG");
      }
      assertThat(connection.read(PATIENCE)).isEqualTo("OK");
    }
  }

  @Test
  void resetReachesBothSides() throws IOException {
    try (RespConnection connection = connect()) {
      connection.call("CLIENT", "SETNAME", "victim");
      proxy.reset();
      assertReset(connection);
      await().until(() -> !server.text("CLIENT", "LIST").contains("victim"));
    }
  }

  @Test
  void refusedClientsComeInOnceHealedAndOpenOnesGoOn() throws IOException {
    try (RespConnection open = connect()) {
      open.call("PING");
      proxy.refuse();
      assertThatThrownBy(this::connect).isInstanceOf(ConnectException.class);
      assertThat(open.call("PING")).isEqualTo("PONG");
      proxy.heal();
      try (RespConnection another = connect()) {
        assertThat(another.call("PING")).isEqualTo("PONG");
      }
    }
  }

  @Test
  void clientLearnsThatTheServerDied() throws IOException {
    try (RespConnection connection = connect()) {
      connection.call("PING");
      server.kill();
      assertThatThrownBy(() -> connection.read(PATIENCE)).isInstanceOf(IOException.class);
    }
  }

  @Test
  void droppedReplyResetsItsConnectionAfterTheRequestWasApplied() throws IOException {
    try (RespConnection connection = connect()) {
      connection.call("PING");
      proxy.dropReplies(1, AfterDrop.RESET);
      connection.send("INCR", "n");
      assertReset(connection);
    }
    assertThat(server.call("GET", "n")).isEqualTo("1");
    assertThat(proxy.droppedReplies()).isEqualTo(1);
    try (RespConnection connection = connect()) {
      assertThat(connection.call("INCR", "n")).isEqualTo(2L);
    }
  }

  @Test
  void droppedReplyCanLeaveSilence() throws IOException {
    try (RespConnection connection = connect();
        RespConnection other = connect()) {
      connection.call("PING");
      other.call("PING");
      proxy.dropReplies(1, AfterDrop.SILENCE);
      connection.send("INCR", "n");
      connection.send("INCR", "n");
      await().until(() -> "2".equals(server.call("GET", "n")));
      assertNothingComes(connection);
      assertThat(other.call("PING")).isEqualTo("PONG");
      proxy.heal();
      assertReset(connection);
    }
  }

  @Test
  void onlyRepliesToTheNamedCommandAreDropped() throws IOException {
    proxy.dropReplies(2, AfterDrop.RESET, "eval", "incr");
    for (int i = 0; i < 2; i++) {
      try (RespConnection connection = connect()) {
        connection.call("HELLO", "3");
        connection.send("SUBSCRIBE", "bell");
        connection.send("ECHO", "passes");
        connection.send("INCR", "n");
        assertThat(connection.read(PATIENCE)).isInstanceOf(RespConnection.Push.class);
        assertThat(connection.read(PATIENCE)).isEqualTo("passes");
        assertReset(connection);
      }
    }
    try (RespConnection connection = connect()) {
      assertThat(connection.call("INCR", "n")).isEqualTo(3L);
    }
  }

  @Test
  void onlyMessagesAreDroppedWhenPushesAre() throws IOException {
    try (RespConnection resp2 = connect();
        RespConnection resp3 = connect()) {
      resp3.call("HELLO", "3");
      proxy.dropPushes();
      for (RespConnection subscriber : new RespConnection[] {resp2, resp3}) {
        subscriber.send("SUBSCRIBE", "bell");
        subscriber.send("PSUBSCRIBE", "be*");
        assertThat(subscriber.read(PATIENCE)).isNotNull();
        assertThat(subscriber.read(PATIENCE)).isNotNull();
      }
      server.call("PUBLISH", "bell", "lost");
      await().until(() -> proxy.droppedPushes() == 4);
      resp3.send("PING");
      assertThat(resp3.read(PATIENCE)).isEqualTo("PONG");
      proxy.heal();
      server.call("PUBLISH", "bell", "heard");
      assertThat(String.valueOf(resp2.read(PATIENCE))).contains("heard");
      assertThat(String.valueOf(resp3.read(PATIENCE))).contains("heard");
    }
  }

  @Test
  void ordinaryListThatLooksLikeAMessageIsAReply() throws IOException {
    server.call("RPUSH", "list", "message", "bell", "text");
    try (RespConnection connection = connect()) {
      proxy.dropPushes();
      assertThat(connection.call("LRANGE", "list", "0", "-1")).asString().contains("text");
    }
  }

  @Test
  void anyProtocolPassesAProxyThatDoesNotKnowIt() throws Exception {
    byte[] sent = new byte[300_000];
    new Random(1).nextBytes(sent);
    try (ServerSocket echo = new ServerSocket(0);
        FaultProxy plain = FaultProxy.before("127.0.0.1", echo.getLocalPort())) {
      CompletableFuture<Void> echoing = CompletableFuture.runAsync(() -> echo(echo), OWN_THREAD);
      try (Socket client = new Socket(plain.host(), plain.port())) {
        CompletableFuture<Void> writing =
            CompletableFuture.runAsync(
                () -> {
                  try {
                    client.getOutputStream().write(sent);
                    client.shutdownOutput();
                  } catch (IOException e) {
                    throw new UncheckedIOException(e);
                  }
                },
                OWN_THREAD);
        assertThat(client.getInputStream().readAllBytes()).isEqualTo(sent);
        writing.join();
        echoing.join();
      }
      assertThatThrownBy(plain::dropPushes).isInstanceOf(IllegalStateException.class);
    }
  }

  @Test
  void chunkIsDroppedWhereTheProtocolIsUnknown() throws IOException {
    try (FaultProxy plain = FaultProxy.before(server.host(), server.port());
        Socket client = new Socket(plain.host(), plain.port())) {
      plain.dropReplies(1, AfterDrop.RESET, "incr n");
      InputStream in = client.getInputStream();
      client.getOutputStream().write("INCR m\r\n".getBytes(US_ASCII));
      assertThat(new String(in.readNBytes(4), US_ASCII)).isEqualTo(":1\r\n");
      client.getOutputStream().write("INCR n\r\n".getBytes(US_ASCII));
      assertThatThrownBy(in::read).isInstanceOf(SocketException.class);
      assertThat(server.call("GET", "n")).isEqualTo("1");
    }
  }

  private static void echo(ServerSocket echo) {
    try (Socket peer = echo.accept()) {
      peer.getInputStream().transferTo(peer.getOutputStream());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private RespConnection connect() throws IOException {
    return RespConnection.open(proxy.host(), proxy.port());
  }

  private static void assertNothingComes(RespConnection connection) {
    assertThatThrownBy(() -> connection.read(A_MOMENT)).isInstanceOf(SocketTimeoutException.class);
  }

  private static void assertReset(RespConnection connection) {
    assertThatThrownBy(() -> connection.read(PATIENCE))
        .isInstanceOf(SocketException.class)
        .hasMessageContaining("reset");
  }
}
