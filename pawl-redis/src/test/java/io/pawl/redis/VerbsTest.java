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
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
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

  /** Those behind it fail and are repeated all the time, which it need not wait for. */
  @Test
  void aCommandIsNotRepeatedForEver() {
    Seam.answer(store.read("any")); // from now on the server has its script
    Servers one = new OneServer(client, uri, false, List.of(), "redis://again");
    Failures failures = new Failures(one.describe());
    AtomicInteger repeats = new AtomicInteger();
    AtomicInteger early = new AtomicInteger();
    List<String> values =
        new AbstractList<>() {
          @Override
          public String get(int index) {
            repeats.incrementAndGet(); // as it is sent
            return "3600000";
          }

          @Override
          public int size() {
            return 1;
          }
        };
    try (Wire wire = Handshake.another(one, failures, RedisOptions.defaults(), false)) {
      Verbs.Ordered command =
          new Verbs.Ordered(
              Scripts.load().renew(), List.of(), values, repeats, reply -> early.incrementAndGet());
      assertThat(new Verbs(wire, failures).runInOrder(command, Verbs.Repeats.soFar(0)))
          .succeedsWithin(Duration.ofSeconds(40));
    }
    assertThat(early).hasValue(Verbs.MOST_REPEATS);
  }

  /**
   * Another thread may hear of it, and another command be repeated, before the sender counts it.
   */
  @Test
  void anAnswerToARepetitionSaysNothingBeforeTheRepetitionIsCounted() {
    Servers one = new OneServer(client, uri, false, List.of(), "redis://counted");
    Failures failures = new Failures(one.describe());
    AtomicInteger repeats = new AtomicInteger();
    AtomicInteger early = new AtomicInteger();
    Scripts.Script script = Scripts.load().renew();
    List<String> values = List.of("3600000");
    try (Wire wire = Handshake.another(one, failures, RedisOptions.defaults(), false)) {
      Verbs verbs = new Verbs(wire, failures);
      Seam.answer(verbs.run(script, List.of(), values)); // from now on the server has it
      Verbs.Repeats withThis = Verbs.Repeats.with(repeats);
      repeats.incrementAndGet();
      CompletableFuture<List<Object>> repetition =
          verbs.runInOrder(
              new Verbs.Ordered(
                  script, List.of(), values, repeats, reply -> early.incrementAndGet()),
              withThis);
      Seam.answer(verbs.run(script, List.of(), values)); // it is answered behind the repetition

      withThis.countIn(repeats);

      assertThat(repetition).succeedsWithin(Duration.ofSeconds(40));
      assertThat(early).hasValue(1);
    }
  }

  /** A script fails at its second key, and keeps what it has written at the first. */
  @Test
  void p8_nothingLeftBehind_whatIsRefusedAfterItSharedACommandWithABadKeyMayHaveBeenApplied() {
    Seam seam = new Seam(store);
    seam.take(seam.claim("first")); // from now on the server has its script
    server.call("SET", Keys.of("bad"), "text");
    Servers one = new OneServer(client, uri, false, List.of(), "redis://halves");
    Failures failures = new Failures(one.describe());
    CompletableFuture<? extends StatefulConnection<String, String>> dialled =
        one.dial().toCompletableFuture();
    try (Wire wire =
        new Wire(one, failures, 20_000_000_000L, refusedFromTheSecondOn(dialled.join()), dialled)) {
      Combiner combiner =
          new Combiner(
              new Verbs(wire, failures),
              "address",
              20_000_000_000L,
              System::nanoTime,
              (reply, rings) -> {});
      Scripts.Script script = Scripts.load().attempt();
      List<CompletableFuture<List<Object>>> answers = new ArrayList<>();
      Combiner.together(
          () ->
              List.of("free", "bad")
                  .forEach(
                      lock ->
                          answers.add(
                              combiner.run(
                                  script, 2, Keys.of(lock), Stored.asked(seam.claim(lock), 0)))));

      assertThat(answers)
          .allSatisfy(
              answer ->
                  assertThat(answer)
                      .failsWithin(Duration.ofSeconds(40))
                      .withThrowableThat()
                      .havingCause()
                      .isInstanceOfSatisfying(
                          StoreUnavailableException.class,
                          failure -> assertThat(failure.isUnsent()).isFalse())
                      .withMessageContaining("does not allow it"));
    }
    server.call("ACL", "SETUSER", "default", "+evalsha");
    assertThat(Seam.answer(store.show("free")).orElseThrow().holders()).hasSize(1);
  }

  private StatefulConnection<String, String> refusedFromTheSecondOn(
      StatefulConnection<String, String> real) {
    AtomicInteger sent = new AtomicInteger();
    return (StatefulRedisConnection<String, String>)
        Proxy.newProxyInstance(
            getClass().getClassLoader(),
            new Class<?>[] {StatefulRedisConnection.class},
            (proxy, method, arguments) -> {
              boolean call = arguments != null && arguments[0] instanceof Call;
              if (call && sent.incrementAndGet() == 2) {
                server.call("ACL", "SETUSER", "default", "-evalsha");
              }
              return method.invoke(real, arguments);
            });
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
