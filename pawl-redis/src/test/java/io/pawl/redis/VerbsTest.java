package io.pawl.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.pawl.error.StoreUnavailableException;
import io.pawl.servers.RedisServer;
import io.pawl.spi.CounterRequest;
import io.pawl.spi.Operation;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.reflect.Proxy;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class VerbsTest {

  private final RedisServer server = RedisServer.start();
  private final RedisURI uri = RedisURI.create(server.url());
  private final RedisClient client = RedisClient.create(uri);
  private final RedisStore store = RedisStore.over(client, uri, RedisOptions.defaults());

  @AfterEach
  void close() {
    store.close();
    client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
    server.close();
  }

  /** As where a node of a Cluster is gone before it has answered: Lettuce asks the next one. */
  @Test
  void p7_conservation_whatIsRefusedOnceItWasSentAgainMayHaveBeenApplied() {
    CounterRequest nine = CounterRequest.of("sold", "stock", 0, new Operation.SetTo(9), true);
    Seam.answer(store.apply(nine)); // from now on the server has its script
    Servers one = new OneServer(client, uri, false, List.of(), "redis://again");
    Failures failures = new Failures(one.describe());
    try (Wire wire = Handshake.another(one, failures, RedisOptions.defaults(), false)) {
      assertThat(
              new Verbs(wire, failures)
                  .run(
                      Scripts.load().count(),
                      List.of(Keys.ofCounter("sold")),
                      List.of("86400000", "order", "add -1", "0", "1"),
                      sendingTwice(wire.connection())))
          .failsWithin(Duration.ofSeconds(40))
          .withThrowableThat()
          .havingCause()
          .isInstanceOfSatisfying(
              StoreUnavailableException.class, failure -> assertThat(failure.isUnsent()).isFalse())
          .withMessageContaining("does not allow it");
    }
    server.call("ACL", "SETUSER", "default", "+evalsha");
    assertThat(Seam.answer(store.read("sold")).orElseThrow().value()).isEqualTo(8);
  }

  /** The first copy is applied, and its answer lost; the second is refused. */
  private StatefulConnection<String, String> sendingTwice(StatefulConnection<?, ?> real) {
    return (StatefulRedisConnection<String, String>)
        Proxy.newProxyInstance(
            getClass().getClassLoader(),
            new Class<?>[] {StatefulRedisConnection.class},
            (proxy, method, arguments) -> {
              if (arguments != null && arguments[0] instanceof Call call) {
                send(call);
                server.call("ACL", "SETUSER", "default", "-evalsha");
              }
              return method.invoke(real, arguments);
            });
  }

  private void send(Call call) throws IOException {
    ByteBuf bytes = Unpooled.buffer();
    call.encode(bytes);
    try (Socket socket = new Socket(server.host(), server.port())) {
      OutputStream out = socket.getOutputStream();
      bytes.readBytes(out, bytes.readableBytes());
      out.flush();
      assertThat(socket.getInputStream().read()).isEqualTo('*');
    }
  }
}
