package io.pawl.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.pawl.error.StoreUnavailableException;
import io.pawl.servers.Direction;
import io.pawl.servers.FaultProxy;
import io.pawl.servers.FaultProxy.AfterDrop;
import io.pawl.servers.RedisSentinels;
import io.pawl.servers.RedisServer;
import io.pawl.servers.RedisServer.Flavour;
import io.pawl.spi.Claim;
import io.pawl.spi.Standing;
import java.lang.reflect.Proxy;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Another server takes over, with or without what the first one acknowledged. */
class FailoverTest {

  private static Standing.Held takenInTheEnd(Seam seam, Claim claim) {
    await()
        .atMost(Duration.ofMinutes(1))
        .ignoreException(StoreUnavailableException.class)
        .until(() -> seam.attempt(claim) instanceof Standing.Held);
    return seam.take(claim);
  }

  private static boolean inStep(RedisServer replica) {
    return replica.text("INFO", "replication").contains("master_link_status:up");
  }

  @ParameterizedTest
  @EnumSource
  void aLaggingReplicaLosesTheHoldButTokensRise(Flavour flavour) {
    try (RedisServer primary = RedisServer.setup().flavour(flavour).start();
        RedisServer replica = RedisServer.setup().flavour(flavour).replicaOf(primary).start();
        FaultProxy link = FaultProxy.before(primary.host(), primary.port())) {
      replica.call("REPLICAOF", link.host(), Integer.toString(link.port()));
      Standing.Held first;
      Standing.Held lost;
      try (RedisStore store = RedisStore.connect(primary.url())) {
        Seam seam = new Seam(store);
        Claim before = seam.claim("lagging", Seam.LEASE, 64);
        first = seam.take(before);
        seam.withdraw(before);
        await()
            .until(() -> replica.call("EXISTS", Keys.of("lagging")).equals(1L) && inStep(replica));
        link.blackHole(Direction.TO_CLIENT);
        lost = seam.take(seam.claim("lagging", Seam.LEASE, 64));
        assertThat(lost.token()).isGreaterThan(first.lastToken());
      }
      primary.kill();
      replica.call("REPLICAOF", "NO", "ONE");
      try (RedisStore store = RedisStore.connect(replica.url())) {
        Seam seam = new Seam(store);
        assertThat(seam.take(seam.claim("lagging")).token()).isGreaterThan(lost.lastToken());
      }
    }
  }

  @Test
  void sentinelsLeadToTheNewPrimaryAfterAKill() {
    try (RedisSentinels group = RedisSentinels.start(Flavour.REDIS, Duration.ofMillis(500));
        RedisStore store = Seam.connect(Urls.of(group) + "&timeout=500ms")) {
      Seam seam = new Seam(store);
      Claim claim = seam.claim("sentinel");
      Standing.Held held = seam.take(claim);
      group.primary().awaitReplicated(group.replica());
      group.primary().kill();
      group.awaitPrimary(group.replica());
      assertThat(takenInTheEnd(seam, claim)).isEqualTo(held);
      seam.withdraw(claim);
      assertThat(seam.take(seam.claim("sentinel")).token()).isGreaterThan(held.lastToken());
    }
  }

  @Test
  void sentinelsLeadAwayFromAPrimaryThatIsFrozen() {
    try (RedisSentinels group = RedisSentinels.start(Flavour.VALKEY, Duration.ofMillis(500));
        RedisStore store = Seam.connect(Urls.of(group) + "&timeout=500ms")) {
      Seam seam = new Seam(store);
      Claim claim = seam.claim("frozen");
      Standing.Held held = seam.take(claim);
      group.primary().awaitReplicated(group.replica());
      group.primary().pause();
      group.awaitPrimary(group.replica());
      assertThat(takenInTheEnd(seam, claim)).isEqualTo(held);
    }
  }

  @Test
  void aStoreOpensByTheLastSentinelThoughThoseBeforeItAreSilent() {
    try (RedisSentinels group = RedisSentinels.start(Flavour.REDIS, Duration.ofMinutes(5))) {
      group.sentinels().get(0).pause();
      group.sentinels().get(1).pause();
      try (RedisStore store = RedisStore.connect(Urls.of(group) + "&timeout=500ms")) {
        Seam seam = new Seam(store);
        seam.take(seam.claim("opened"));
      }
    }
  }

  @Test
  void aSentinelThatIsRestartedCostsNoConnectionToThePrimary() {
    try (RedisSentinels group = RedisSentinels.start(Flavour.REDIS, Duration.ofMillis(500));
        RedisStore store = RedisStore.connect(Urls.of(group) + "&timeout=20s")) {
      Seam seam = new Seam(store);
      seam.take(seam.claim("before"));
      awaitListener(group.sentinels().get(0));
      List<String> before = connections(group.primary());
      assertThat(before).isNotEmpty();
      group.sentinels().get(0).kill();
      awaitListener(group.sentinels().get(1));
      group.sentinels().get(0).restart();

      await()
          .during(Duration.ofSeconds(1))
          .until(() -> connections(group.primary()).equals(before));
    }
  }

  private static List<String> connections(RedisServer server) {
    return server
        .text("CLIENT", "LIST")
        .lines()
        .filter(line -> line.contains("name=pawl"))
        .map(line -> line.substring(0, line.indexOf(' ')))
        .toList();
  }

  /** Its number, which is that of the connection that asks if nobody else has come since. */
  private static long latestConnection(RedisServer server) {
    return server
        .text("CLIENT", "LIST")
        .lines()
        .mapToLong(line -> Long.parseLong(line.replaceAll("id=(\\d+) .*", "$1")))
        .max()
        .orElseThrow();
  }

  private static void awaitListener(RedisServer sentinel) {
    await()
        .atMost(Duration.ofMinutes(1))
        .until(() -> sentinel.text("CLIENT", "LIST").contains(" sub=1 "));
  }

  /** It serves whoever is connected until the Sentinels demote it, and forgets that then. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aPrimaryThatWasOnlyPausedIsLeftBeforeItAnswersAgain(boolean aSentinelWasPausedToo) {
    try (RedisSentinels group = RedisSentinels.start(Flavour.REDIS, Duration.ofMillis(500));
        RedisStore store = RedisStore.connect(Urls.of(group) + "&timeout=20s")) {
      Seam seam = new Seam(store);
      seam.take(seam.claim("before"));
      if (aSentinelWasPausedToo) {
        awaitListener(group.sentinels().get(0));
        group.sentinels().get(0).pause();
        awaitListener(group.sentinels().get(1));
        group.sentinels().get(0).resume();
      }
      RedisServer paused = group.primary();
      RedisServer next = group.replica();
      paused.pause();
      group.awaitPrimary(next);
      await()
          .atMost(Duration.ofMinutes(1))
          .until(() -> next.text("CLIENT", "LIST").contains("name=pawl"));
      paused.resume();

      takenInTheEnd(seam, seam.claim("paused"));

      assertThat(next.call("EXISTS", Keys.of("paused"))).isEqualTo(1L);
    }
  }

  /** Makes {@code sentinel} say so, in an epoch of its own, without a word to others. */
  private static void letName(RedisServer sentinel, RedisServer primary) {
    letName(sentinel, primary.host(), primary.port());
  }

  private static void letName(RedisServer sentinel, String host, int port) {
    sentinel.call("SENTINEL", "REMOVE", RedisSentinels.NAME);
    sentinel.call("SENTINEL", "MONITOR", RedisSentinels.NAME, host, Integer.toString(port), "3");
  }

  private static RedisURI uri(RedisServer sentinel) {
    return RedisURI.Builder.sentinel(sentinel.host(), sentinel.port(), RedisSentinels.NAME).build();
  }

  private static Servers.Primary primary(RedisServer server) {
    return primary(server.host(), server.port());
  }

  private static Servers.Primary primary(String host, int port) {
    return new Servers.Primary(InetSocketAddress.createUnresolved(host, port), 0);
  }

  private static void awaitLeadsTo(Wire wire, RedisServer server) {
    server.call("SET", "where", server.toString());
    await()
        .atMost(Duration.ofMinutes(1))
        .ignoreException(CompletionException.class)
        .until(
            () ->
                wire.send(CommandType.GET, new CommandArgs<>(StringCodec.UTF8).addKey("where"))
                    .join()
                    .equals(List.of(server.toString())));
  }

  private static long hellos(RedisServer server) {
    return server
        .text("INFO", "commandstats")
        .lines()
        .filter(line -> line.startsWith("cmdstat_hello:"))
        .mapToLong(line -> Long.parseLong(line.replaceAll(".*:calls=(\\d+).*", "$1")))
        .sum();
  }

  @Test
  void aPrimaryThatChangedBeforeItsSentinelWasListenedToIsLeft() {
    RedisClient client = RedisClient.create();
    try (RedisSentinels group = RedisSentinels.start(Flavour.REDIS, Duration.ofMinutes(5));
        RedisServer other = RedisServer.start()) {
      RedisServer sentinel = group.sentinels().get(0);
      Servers servers = new OneServer(client, uri(sentinel), false, List.of(), "redis://late");
      try (Wire wire = wire(servers)) {
        letName(sentinel, other);
        try (Servers.Watch watch = servers.watch(wire, wire::named)) {
          awaitLeadsTo(wire, other);
        }
      }
    } finally {
      client.shutdown();
    }
  }

  private static Wire wire(Servers servers) {
    return Handshake.another(
        servers, new Failures(servers.describe()), RedisOptions.defaults(), false);
  }

  /** As where the state of a firewall is lost: nobody says that the connection has ended. */
  @Test
  void aConnectionThatSentinelsLedToIsReplacedWhereItFallsSilent() {
    RedisClient client = RedisClient.create();
    try (RedisSentinels group = RedisSentinels.start(Flavour.REDIS, Duration.ofMinutes(5));
        RedisServer other = RedisServer.start();
        FaultProxy way = FaultProxy.before(other)) {
      RedisServer sentinel = group.sentinels().get(0);
      Servers servers = new OneServer(client, uri(sentinel), false, List.of(), "redis://silent");
      try (Wire wire = wire(servers)) {
        letName(sentinel, way.host(), way.port());
        wire.named(primary(way.host(), way.port()));
        awaitLeadsTo(wire, other);
        StatefulConnection<String, String> silent = wire.connection();
        way.dropReplies(1, AfterDrop.SILENCE, "GET");

        awaitLeadsTo(wire, other);

        assertThat(way.droppedReplies()).isEqualTo(1);
        assertThat(wire.connection()).isNotSameAs(silent);
      }
    } finally {
      client.shutdown();
    }
  }

  /**
   * One told of another primary and died; the next one, which is asked, has not heard of it yet.
   */
  @Test
  void aPrimaryIsLeftThoughTheSentinelThatIsAskedForTheNextLagsBehind() {
    RedisClient client = RedisClient.create();
    try (RedisSentinels group = RedisSentinels.start(Flavour.REDIS, Duration.ofMinutes(5));
        RedisServer other = RedisServer.start()) {
      RedisServer sentinel = group.sentinels().get(0);
      Servers servers = new OneServer(client, uri(sentinel), false, List.of(), "redis://lagging");
      try (Wire wire = wire(servers)) {
        long before = hellos(group.primary());
        wire.named(primary(other));
        await().until(() -> hellos(group.primary()) > before);
        letName(sentinel, other);

        awaitLeadsTo(wire, other);
      }
    } finally {
      client.shutdown();
    }
  }

  /** As where addresses are translated in a way that Lettuce does not know of. */
  @Test
  void aNameThatNothingLeadsToCostsAFewDialsAndNoConnection() {
    RedisClient client = RedisClient.create();
    List<CompletableFuture<StatefulConnection<?, ?>>> dials = new CopyOnWriteArrayList<>();
    try (RedisServer server = RedisServer.start()) {
      RedisURI uri = RedisURI.create(server.url());
      Servers one = new OneServer(client, uri, false, List.of(), "redis://translated");
      Servers counted =
          (Servers)
              Proxy.newProxyInstance(
                  Servers.class.getClassLoader(),
                  new Class<?>[] {Servers.class},
                  (proxy, method, arguments) -> {
                    Object result = method.invoke(one, arguments);
                    if (method.getName().equals("dial")) {
                      dials.add(connection(result));
                    }
                    return result;
                  });
      try (Wire wire = wire(counted)) {
        StatefulConnection<String, String> before = wire.connection();
        Servers.Primary elsewhere =
            new Servers.Primary(InetSocketAddress.createUnresolved("translated", 6379), 0);
        int connected = clients(server);
        wire.named(elsewhere);
        await()
            .atMost(Duration.ofMinutes(2))
            .until(() -> dials.size() == 8 && dials.stream().skip(1).noneMatch(d -> mayBeOpen(d)));
        await().until(() -> clients(server) == connected);
        wire.named(elsewhere);

        assertThat(dials).hasSize(8);
        assertThat(wire.connection()).isSameAs(before);
      }
    } finally {
      client.shutdown();
    }
  }

  @SuppressWarnings("unchecked") // by the signature of dial()
  private static CompletableFuture<StatefulConnection<?, ?>> connection(Object dialled) {
    return ((CompletionStage<StatefulConnection<?, ?>>) dialled).toCompletableFuture();
  }

  private static boolean mayBeOpen(CompletableFuture<StatefulConnection<?, ?>> dial) {
    return !dial.isDone() || (!dial.isCompletedExceptionally() && dial.join().isOpen());
  }

  private static int clients(RedisServer server) {
    return (int) server.text("CLIENT", "LIST").lines().count();
  }

  @Test
  void aReplicaThatASentinelTakesForThePrimaryIsNotUsed() {
    try (RedisSentinels group = RedisSentinels.start(Flavour.REDIS, Duration.ofMinutes(5));
        RedisStore store = RedisStore.connect(Urls.of(group) + "&timeout=20s")) {
      Seam seam = new Seam(store);
      seam.take(seam.claim("before"));
      awaitListener(group.sentinels().get(0));
      List<String> before = connections(group.primary());
      letName(group.sentinels().get(1), group.replica());
      group.sentinels().get(0).kill();
      await()
          .atMost(Duration.ofMinutes(1))
          .until( // it was dialled twice, or is in use
              () -> hellos(group.replica()) >= 4 || !connections(group.primary()).equals(before));

      seam.take(seam.claim("after"));
      assertThat(connections(group.primary())).isEqualTo(before);
    }
  }

  @Test
  void whatASentinelSaysThatLagsBehindIsNotHeardAndItIsLeft() {
    try (RedisSentinels group = RedisSentinels.start(Flavour.REDIS, Duration.ofMinutes(5));
        RedisServer old = RedisServer.start()) {
      RedisServer now = group.replica();
      group.sentinels().get(0).call("SENTINEL", "FAILOVER", RedisSentinels.NAME);
      group.awaitPrimary(now);
      try (RedisStore store = RedisStore.connect(Urls.of(group) + "&timeout=20s")) {
        Seam seam = new Seam(store);
        seam.take(seam.claim("before"));
        awaitListener(group.sentinels().get(0));
        List<String> before = connections(now);
        group.sentinels().get(2).call("SENTINEL", "REMOVE", RedisSentinels.NAME);
        group.sentinels().get(0).kill(); // nobody is left who tells the other one
        letName(group.sentinels().get(1), old);
        long first = latestConnection(group.sentinels().get(1));
        AtomicInteger ours = new AtomicInteger();
        await()
            .atMost(Duration.ofMinutes(1))
            .until(
                () ->
                    latestConnection(group.sentinels().get(1)) - first - ours.incrementAndGet()
                        >= 1);

        await().during(Duration.ofSeconds(1)).until(() -> connections(now).equals(before));
        assertThat(connections(old)).isEmpty();
        await()
            .atMost(Duration.ofMinutes(1))
            .until(() -> !group.sentinels().get(1).text("CLIENT", "LIST").contains(" sub=1 "));
      }
    }
  }

  /** As behind a name, a virtual IP or a balancer, which leave open connections where they are. */
  @Test
  void aPrimaryThatIsDemotedInPlaceIsLeftThoughTheConnectionStaysOpen() {
    try (RedisServer before = RedisServer.start();
        RedisServer after = RedisServer.start();
        FaultProxy name = FaultProxy.before(before);
        RedisStore store = RedisStore.connect("redis://" + name.host() + ":" + name.port())) {
      Seam seam = new Seam(store);
      seam.take(seam.claim("demoted"));
      name.leadTo(after);
      before.call("REPLICAOF", after.host(), Integer.toString(after.port()));
      assertThatThrownBy(() -> seam.attempt(seam.claim("demoted")))
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageContaining("read-only replica");
      takenInTheEnd(seam, seam.claim("demoted"));
      assertThat(after.call("EXISTS", Keys.of("demoted"))).isEqualTo(1L);
    }
  }

  @Test
  void aReplicaThatHasLostItsPrimaryIsLeftThoughTheConnectionStaysOpen() {
    try (RedisServer before =
            RedisServer.setup().setting("replica-serve-stale-data", "no").start();
        RedisServer after = RedisServer.start();
        FaultProxy name = FaultProxy.before(before);
        RedisStore store = RedisStore.connect("redis://" + name.host() + ":" + name.port())) {
      Seam seam = new Seam(store);
      seam.take(seam.claim("orphaned"));
      name.leadTo(after);
      before.call("REPLICAOF", "127.0.0.1", "1");
      assertThatThrownBy(() -> seam.attempt(seam.claim("orphaned")))
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageContaining("lost its primary");
      takenInTheEnd(seam, seam.claim("orphaned"));
      assertThat(after.call("EXISTS", Keys.of("orphaned"))).isEqualTo(1L);
    }
  }

  @Test
  void aPrimaryThatIsDemotedWhileItWaitsForReplicasIsAnOutage() {
    try (RedisServer server = RedisServer.start();
        RedisStore store =
            RedisStore.connect(server.url() + "?waitReplicas=1&waitTimeout=5s&timeout=10s")) {
      Seam seam = new Seam(store);
      CompletionStage<Standing> asked = store.attempt(seam.claim("demoted"), standing -> {});
      await().until(() -> server.text("INFO", "clients").contains("blocked_clients:1"));
      server.call("REPLICAOF", server.host(), "1");

      assertThatThrownBy(() -> Seam.answer(asked)).isInstanceOf(StoreUnavailableException.class);
    }
  }

  @Test
  void aDemotedPrimaryThatSentinelsStillNameIsAnOutage() {
    try (RedisSentinels group =
        RedisSentinels.start(RedisServer.Flavour.REDIS, Duration.ofSeconds(30))) {
      group.primary().call("REPLICAOF", group.primary().host(), "1");
      assertThatThrownBy(() -> RedisStore.connect(Urls.of(group)).close())
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageContaining("demoted");
    }
  }
}
