package io.pawl.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.ConnectionFuture;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.protocol.ProtocolVersion;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.Delay;
import io.lettuce.core.resource.SocketAddressResolver;
import io.netty.util.HashedWheelTimer;
import io.netty.util.Timeout;
import io.netty.util.TimerTask;
import io.pawl.error.StoreUnavailableException;
import io.pawl.servers.FaultProxy;
import io.pawl.servers.FaultProxy.AfterDrop;
import io.pawl.servers.RedisCluster;
import io.pawl.servers.RedisSentinels;
import io.pawl.servers.RedisServer;
import io.pawl.servers.RedisServer.Flavour;
import io.pawl.spi.Claim;
import io.pawl.spi.Standing;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** A Lettuce client of the application's: used, and given back as it came. */
class GivenClientTest {

  /** Holds, waits, is called and gives back, so that every connection is opened. */
  private static void use(RedisStore one, RedisStore other, String lock) {
    Seam here = new Seam(one);
    Seam there = new Seam(other);
    Claim holder = here.claim(lock);
    Claim waiter = there.claim(lock);
    here.take(holder);
    CompletableFuture<Standing> rung = new CompletableFuture<>();
    assertThat(Seam.answer(other.attempt(waiter, rung::complete)))
        .isInstanceOf(Standing.Waiting.class);
    here.withdraw(holder);
    assertThat(Seam.answer(rung)).isInstanceOf(Standing.Held.class);
    there.withdraw(waiter);
  }

  private static int clients(List<RedisServer> servers) {
    int connected = 0;
    for (RedisServer server : servers) {
      connected += server.text("CLIENT", "LIST", "TYPE", "NORMAL").trim().split("\n").length;
      connected += server.text("CLIENT", "LIST", "TYPE", "PUBSUB").trim().lines().count();
    }
    return connected;
  }

  private static void nothingIsLeft(List<RedisServer> servers, int before) {
    await().untilAsserted(() -> assertThat(clients(servers)).isLessThanOrEqualTo(before));
    for (RedisServer server : servers) {
      assertThat(server.list("PUBSUB", "CHANNELS")).isEmpty();
    }
  }

  @Test
  void aClientOfASingleServerStaysItsOwners() {
    try (RedisServer server = RedisServer.setup().password("theirs").start()) {
      RedisURI uri = RedisURI.create(server.url());
      RedisClient client = RedisClient.create(uri);
      try (StatefulRedisConnection<String, String> theirs = client.connect()) {
        int before = clients(List.of(server));

        try (RedisStore one = RedisStore.over(client, uri, RedisOptions.defaults());
            RedisStore other = RedisStore.over(client, uri, RedisOptions.defaults())) {
          use(one, other, "given");
          assertThat(one.describe()).doesNotContain("theirs");
        }

        nothingIsLeft(List.of(server), before);
        assertThat(theirs.sync().ping()).isEqualTo("PONG");
        try (StatefulRedisConnection<String, String> more = client.connect()) {
          assertThat(more.sync().ping()).isEqualTo("PONG");
        }
      } finally {
        client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
      }
    }
  }

  @Test
  void aClientOfAClusterStaysItsOwners() {
    try (RedisCluster cluster = RedisCluster.start(Flavour.REDIS)) {
      RedisServer first = cluster.nodes().get(0);
      ClientResources resources = ClientResources.create();
      RedisClusterClient client = RedisClusterClient.create(resources, first.url());
      try (StatefulRedisClusterConnection<String, String> theirs = client.connect()) {
        for (RedisServer node : cluster.nodes()) {
          theirs.getConnection(node.host(), node.port()).sync().ping();
        }
        for (int i = 0; i < 20; i++) {
          theirs.sync().set("warm" + i, "x");
        }
        int before = clients(cluster.nodes());

        try (RedisStore one = RedisStore.over(client, RedisOptions.defaults());
            RedisStore other = RedisStore.over(client, RedisOptions.defaults())) {
          for (int i = 0; i < 10; i++) {
            use(one, other, "given" + i);
          }
        }

        nothingIsLeft(cluster.nodes(), before);
        assertThat(theirs.sync().get("warm1")).isEqualTo("x");
      } finally {
        client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
        resources.shutdown().awaitUninterruptibly();
      }
    }
  }

  /** It would be dead after its first disconnect. */
  @Test
  void aClientThatDoesNotReconnectIsRefused() {
    RedisURI nowhere = RedisURI.create("redis://127.0.0.1:1");
    RedisClient client = RedisClient.create();
    RedisClusterClient cluster = RedisClusterClient.create(nowhere);
    client.setOptions(ClientOptions.builder().autoReconnect(false).build());
    cluster.setOptions(ClusterClientOptions.builder().autoReconnect(false).build());
    try {
      assertThatThrownBy(() -> RedisStore.over(client, nowhere, RedisOptions.defaults()))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("autoReconnect(true)");
      assertThatThrownBy(() -> RedisStore.over(cluster, RedisOptions.defaults()))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("autoReconnect(true)");
    } finally {
      client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
      cluster.shutdown(Duration.ZERO, Duration.ofSeconds(2));
    }
  }

  @Test
  void aGivenClientIsUsedAgainAfterADisconnect() {
    try (RedisServer server = RedisServer.start()) {
      RedisURI uri = RedisURI.create(server.url());
      RedisClient client = RedisClient.create();
      try (RedisStore store = RedisStore.over(client, uri, RedisOptions.defaults())) {
        Seam seam = new Seam(store);
        Claim claim = seam.claim("given");
        Standing.Held held = seam.take(claim);
        server.call("CLIENT", "KILL", "TYPE", "NORMAL");
        await()
            .ignoreException(StoreUnavailableException.class)
            .until(() -> seam.renew(claim).equals(held));
      } finally {
        client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
      }
    }
  }

  @Test
  void p6_someoneGetsIn_aGivenClientThatIsSlowToReconnectKeepsNobodyWaiting() {
    try (RedisServer server = RedisServer.setup().persistent().start()) {
      RedisURI uri = RedisURI.create(server.url());
      ClientResources resources =
          ClientResources.builder().reconnectDelay(Delay.constant(Duration.ofMinutes(5))).build();
      RedisClient client = RedisClient.create(resources);
      try (RedisStore store = RedisStore.over(client, uri, RedisOptions.defaults())) {
        Seam seam = new Seam(store);
        Claim claim = seam.claim("given");
        Standing.Held held = seam.take(claim);
        server.restart();

        await()
            .ignoreException(StoreUnavailableException.class)
            .until(() -> seam.renew(claim).equals(held));
      } finally {
        client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
        resources.shutdown().awaitUninterruptibly();
      }
    }
  }

  /** Where it looks for the host of each connection on the thread that dials. */
  @Test
  void p6_someoneGetsIn_everyCallEndsWhileAGivenClientLooksForItsHost() {
    CompletableFuture<Void> found = new CompletableFuture<>();
    AtomicBoolean isSlow = new AtomicBoolean();
    SocketAddressResolver resolver =
        SocketAddressResolver.create(
            host -> {
              if (isSlow.get()) {
                found.join();
              }
              return InetAddress.getAllByName(host);
            });
    ClientResources resources = ClientResources.builder().socketAddressResolver(resolver).build();
    try (RedisServer server = RedisServer.start()) {
      RedisURI uri = RedisURI.create(server.url());
      RedisClient client = RedisClient.create(resources, uri);
      try (RedisStore store =
          RedisStore.over(client, uri, RedisOptions.defaults().timeout(Duration.ofMillis(300)))) {
        Seam seam = new Seam(store);
        seam.take(seam.claim("before"));
        isSlow.set(true);
        server.pause();
        for (int i = 0; i < 3; i++) {
          assertThatThrownBy(() -> seam.take(seam.claim("unheard")))
              .isInstanceOf(StoreUnavailableException.class);
        }
        server.resume();
        found.complete(null);
        await()
            .ignoreException(StoreUnavailableException.class)
            .until(() -> seam.take(seam.claim("after")) != null);
      } finally {
        found.complete(null);
        client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
      }
    } finally {
      resources.shutdown().awaitUninterruptibly();
    }
  }

  @Test
  void p6_someoneGetsIn_everyCallEndsWhileAGivenClientLooksForASentinel() {
    CompletableFuture<Void> found = new CompletableFuture<>();
    AtomicInteger lost = new AtomicInteger();
    CountDownLatch asked = new CountDownLatch(1);
    SocketAddressResolver resolver =
        new SocketAddressResolver() {
          @Override
          public SocketAddress resolve(RedisURI uri) {
            if (uri.getPort() == lost.get()) {
              asked.countDown();
              found.join();
            }
            return super.resolve(uri);
          }
        };
    ClientResources resources = ClientResources.builder().socketAddressResolver(resolver).build();
    try (RedisSentinels group = RedisSentinels.start(Flavour.REDIS, Duration.ofMinutes(5))) {
      RedisServer first = group.sentinels().get(0);
      RedisServer second = group.sentinels().get(1);
      RedisURI uri =
          RedisURI.Builder.sentinel(first.host(), first.port(), RedisSentinels.NAME)
              .withSentinel(second.host(), second.port())
              .build();
      RedisClient client = RedisClient.create(resources, uri);
      try (RedisStore store =
          RedisStore.over(client, uri, RedisOptions.defaults().timeout(Duration.ofMillis(300)))) {
        Seam seam = new Seam(store);
        seam.take(seam.claim("before"));
        await().until(() -> first.text("CLIENT", "LIST").contains(" sub=1 "));
        lost.set(second.port());
        first.kill();
        await().until(() -> asked.getCount() == 0);
        group.primary().pause();
        assertThatThrownBy(() -> seam.take(seam.claim("unheard")))
            .isInstanceOf(StoreUnavailableException.class);
      } finally {
        found.complete(null);
        client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
      }
    } finally {
      resources.shutdown().awaitUninterruptibly();
    }
  }

  @Test
  void p7_conservation_aRequestThatAGivenClientHasNoRoomForIsNotInDoubt() {
    try (RedisServer server = RedisServer.start()) {
      RedisURI uri = RedisURI.create(server.url());
      RedisClient client = RedisClient.create();
      client.setOptions(ClientOptions.builder().requestQueueSize(4).build());
      RedisOptions slow = RedisOptions.defaults().timeout(Duration.ofSeconds(10));
      try (RedisStore store = RedisStore.over(client, uri, slow)) {
        Seam seam = new Seam(store);
        server.pause();
        try {
          for (int i = 0; i < 8; i++) {
            store.show("room");
          }
          assertThatThrownBy(() -> seam.attempt(seam.claim("room")))
              .isInstanceOfSatisfying(
                  StoreUnavailableException.class,
                  e -> assertThat(e.isUnsent()).as(e.getMessage()).isTrue());
        } finally {
          server.resume();
        }
      } finally {
        client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
      }
    }
  }

  /** What a store has put off can be brought forward. */
  private static final class Bell extends HashedWheelTimer {

    private final Queue<Runnable> stores = new ConcurrentLinkedQueue<>();

    @Override
    public Timeout newTimeout(TimerTask task, long delay, TimeUnit unit) {
      Timeout timeout = super.newTimeout(task, delay, unit);
      if (task.getClass().getName().startsWith(Wire.class.getName())) {
        stores.add(
            () -> {
              try {
                task.run(timeout);
              } catch (Exception e) {
                throw new AssertionError(e);
              }
            });
      }
      return timeout;
    }
  }

  @Test
  void aStoreThatMayNotSubscribeDialsNoMoreOnceItIsClosed() {
    try (RedisServer server =
        RedisServer.setup().user("deaf", "secret", "~*", "+@all", "resetchannels").start()) {
      Bell timer = new Bell();
      ClientResources resources = ClientResources.builder().timer(timer).build();
      RedisURI uri = RedisURI.create("redis://deaf:secret@" + server.host() + ":" + server.port());
      RedisClient client = RedisClient.create(resources, uri);
      try (StatefulRedisConnection<String, String> theirs = client.connect()) {
        int before = clients(List.of(server));
        try (RedisStore store = RedisStore.over(client, uri, RedisOptions.defaults())) {
          Seam seam = new Seam(store);
          seam.take(seam.claim("deaf"));
          assertThat(seam.attempt(seam.claim("deaf"))).isInstanceOf(Standing.Waiting.class);
          await().until(() -> server.text("INFO", "commandstats").contains("cmdstat_subscribe"));
        }
        timer.stores.forEach(Runnable::run);
        await()
            .during(Duration.ofMillis(500))
            .atMost(Duration.ofSeconds(20))
            .until(() -> clients(List.of(server)) <= before);
        assertThat(theirs.sync().ping()).isEqualTo("PONG");
      } finally {
        client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
        resources.shutdown().awaitUninterruptibly();
        timer.stop();
      }
    }
  }

  @Test
  void aConnectionThatTakesThePlaceOfASilentOneDuringTheCloseLeavesNoneBehind() throws Exception {
    try (RedisServer server = RedisServer.start();
        FaultProxy proxy = FaultProxy.before(server)) {
      RedisURI uri = RedisURI.create("redis://" + proxy.host() + ":" + proxy.port());
      RedisClient client = RedisClient.create(uri);
      try {
        RedisStore store =
            RedisStore.over(client, uri, RedisOptions.defaults().timeout(Duration.ofMillis(200)));
        Seam seam = new Seam(store);
        seam.take(seam.claim("silent"));
        proxy.cut();
        await()
            .until(
                () -> {
                  assertThatThrownBy(() -> seam.take(seam.claim("unheard")))
                      .isInstanceOf(StoreUnavailableException.class);
                  return proxy.connections() > 1;
                });
        CompletableFuture<Void> closing = CompletableFuture.runAsync(store::close);
        await()
            .until(
                () -> {
                  try {
                    seam.take(seam.claim("unheard"));
                    return false;
                  } catch (StoreUnavailableException e) {
                    return String.valueOf(e.getMessage()).contains("is closed");
                  }
                });
        proxy.heal();
        closing.get(60, TimeUnit.SECONDS);
        await().untilAsserted(() -> assertThat(proxy.connections()).isZero());
      } finally {
        client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
      }
    }
  }

  @Test
  void aConnectionForBellsThatTakesThePlaceOfADeafOneIsTheOnlyOne() {
    try (RedisServer server = RedisServer.start();
        FaultProxy proxy = FaultProxy.before(server.host(), server.port())) {
      RedisURI uri = RedisURI.create("redis://" + proxy.host() + ":" + proxy.port());
      RedisClient client = RedisClient.create(uri);
      client.setOptions(ClientOptions.builder().protocolVersion(ProtocolVersion.RESP2).build());
      try (RedisStore other = RedisStore.connect(server.url())) {
        Seam there = new Seam(other);
        Claim holder = there.claim("deaf");
        there.take(holder);
        try (RedisStore store = RedisStore.over(client, uri, RedisOptions.defaults())) {
          Seam here = new Seam(store);
          Claim waiter = here.claim("deaf");
          proxy.dropReplies(1, AfterDrop.SILENCE, "SUBSCRIBE");
          assertThat(here.attempt(waiter)).isInstanceOf(Standing.Waiting.class);
          await().until(() -> proxy.droppedReplies() == 1);
          there.withdraw(holder);

          assertThat(here.renew(waiter)).isInstanceOf(Standing.Held.class);

          await()
              .during(Duration.ofSeconds(2))
              .atMost(Duration.ofSeconds(20))
              .until(() -> subscribers(server) == 1);
        }
        await().until(() -> subscribers(server) == 0);
      } finally {
        client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
      }
    }
  }

  /** A client whose first connection for bells takes long, as where classes have to be loaded. */
  private static final class Slow extends RedisClient {

    private final CountDownLatch goesOn = new CountDownLatch(1);
    private final CountDownLatch dialled = new CountDownLatch(1);
    private final CompletableFuture<StatefulRedisPubSubConnection<?, ?>> opened =
        new CompletableFuture<>();

    Slow(ClientResources resources, RedisURI uri) {
      super(resources, uri);
    }

    @Override
    public <K, V> ConnectionFuture<StatefulRedisPubSubConnection<K, V>> connectPubSubAsync(
        RedisCodec<K, V> codec, RedisURI redisURI) {
      dialled.countDown();
      try {
        goesOn.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      ConnectionFuture<StatefulRedisPubSubConnection<K, V>> opening =
          super.connectPubSubAsync(codec, redisURI);
      opening.thenAccept(opened::complete);
      return opening;
    }
  }

  @Test
  void aWaiterIsToldBeforeTheConnectionForItsBellIsOpen() throws Exception {
    ClientResources resources = ClientResources.create();
    try (RedisServer server = RedisServer.start();
        RedisStore other = RedisStore.connect(server.url())) {
      RedisURI uri = RedisURI.create(server.url());
      Slow client = new Slow(resources, uri);
      try (RedisStore store = RedisStore.over(client, uri, RedisOptions.defaults())) {
        Seam there = new Seam(other);
        Claim holder = there.claim("slow");
        there.take(holder);
        CompletableFuture<Standing> rung = new CompletableFuture<>();
        Claim waiter = new Seam(store).claim("slow");
        CompletableFuture<Standing> told =
            CompletableFuture.supplyAsync(() -> Seam.answer(store.attempt(waiter, rung::complete)));

        assertThat(client.dialled.await(30, TimeUnit.SECONDS)).isTrue();
        assertThat(told.get(30, TimeUnit.SECONDS)).isInstanceOf(Standing.Waiting.class);
        assertThat(new Seam(store).attempt(new Seam(store).claim("free")))
            .isInstanceOf(Standing.Held.class);

        client.goesOn.countDown();
        there.withdraw(holder);
        assertThat(Seam.answer(rung)).isInstanceOf(Standing.Held.class);
      } finally {
        client.goesOn.countDown();
        client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
        resources.shutdown().awaitUninterruptibly();
      }
    }
  }

  /** Its thread waits for it, or has ended. */
  private static void awaitStandstill(Thread thread) {
    await()
        .until(
            () ->
                thread.getState() == Thread.State.TIMED_WAITING
                    || thread.getState() == Thread.State.TERMINATED);
  }

  @Test
  void p8_nothingLeftBehind_aStoreThatClosesWaitsForTheConnectionThatIsBeingOpened()
      throws Exception {
    ClientResources resources = ClientResources.create();
    try (RedisServer server = RedisServer.start();
        RedisStore other = RedisStore.connect(server.url())) {
      RedisURI uri = RedisURI.create(server.url());
      Slow client = new Slow(resources, uri);
      try {
        RedisStore store = RedisStore.over(client, uri, RedisOptions.defaults());
        Seam there = new Seam(other);
        there.take(there.claim("slow"));
        store.attempt(new Seam(store).claim("slow"), standing -> {});
        assertThat(client.dialled.await(30, TimeUnit.SECONDS)).isTrue();

        Thread closing = new Thread(store::close);
        closing.start();
        awaitStandstill(closing);
        assertThat(closing.isAlive()).as("it waits").isTrue();
        client.goesOn.countDown();
        closing.join(30_000);

        assertThat(client.opened.get(30, TimeUnit.SECONDS).isOpen()).isFalse();
      } finally {
        client.goesOn.countDown();
        client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
        resources.shutdown().awaitUninterruptibly();
      }
    }
  }

  /** Its thread is in the midst of a dial as the wire closes. */
  @Test
  void p8_nothingLeftBehind_aWireThatClosesWaitsForTheDialThatHasJustBegun() throws Exception {
    try (RedisServer server = RedisServer.start()) {
      RedisURI uri = RedisURI.create(server.url());
      RedisClient client = RedisClient.create(uri);
      Servers one = new OneServer(client, uri, false, List.of(), "redis://slow");
      CountDownLatch dialled = new CountDownLatch(2);
      CountDownLatch goesOn = new CountDownLatch(1);
      AtomicReference<StatefulRedisConnection<?, ?>> fresh = new AtomicReference<>();
      Servers slow =
          (Servers)
              Proxy.newProxyInstance(
                  Servers.class.getClassLoader(),
                  new Class<?>[] {Servers.class},
                  (proxy, method, arguments) -> {
                    if (!method.getName().equals("dial")) {
                      return method.invoke(one, arguments);
                    }
                    dialled.countDown();
                    if (dialled.getCount() == 0) {
                      goesOn.await();
                    }
                    return one.dial()
                        .whenComplete(
                            (opened, error) -> fresh.set((StatefulRedisConnection<?, ?>) opened));
                  });
      try {
        Wire wire =
            Handshake.another(slow, new Failures("redis://slow"), RedisOptions.defaults(), false);
        SocketAddress elsewhere = InetSocketAddress.createUnresolved("elsewhere", 6379);
        new Thread(() -> wire.named(new Servers.Primary(elsewhere, 0))).start();
        assertThat(dialled.await(30, TimeUnit.SECONDS)).isTrue();

        Thread closing = new Thread(wire::close);
        closing.start();
        awaitStandstill(closing);
        assertThat(closing.isAlive()).as("it waits").isTrue();
        goesOn.countDown();
        closing.join(30_000);

        await().until(() -> !fresh.get().isOpen());
      } finally {
        goesOn.countDown();
        client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
      }
    }
  }

  /** Fails to start a thread for a connection, as a JVM does that has as many as it may have. */
  private static final class Starved extends RedisClient {

    private final AtomicInteger goodDials = new AtomicInteger();
    private final AtomicInteger dials = new AtomicInteger();
    private final AtomicInteger bells = new AtomicInteger();

    Starved(ClientResources resources, RedisURI uri) {
      super(resources, uri);
    }

    private static void failIfLeft(AtomicInteger left) {
      if (left.getAndUpdate(failures -> Math.max(0, failures - 1)) > 0) {
        throw new OutOfMemoryError("unable to create native thread, says the test");
      }
    }

    @Override
    public <K, V> ConnectionFuture<StatefulRedisConnection<K, V>> connectAsync(
        RedisCodec<K, V> codec, RedisURI redisURI) {
      if (goodDials.getAndDecrement() <= 0) {
        failIfLeft(dials);
      }
      return super.connectAsync(codec, redisURI);
    }

    @Override
    public <K, V> ConnectionFuture<StatefulRedisPubSubConnection<K, V>> connectPubSubAsync(
        RedisCodec<K, V> codec, RedisURI redisURI) {
      failIfLeft(bells);
      return super.connectPubSubAsync(codec, redisURI);
    }
  }

  @Test
  void aWaiterIsToldAndCalledThoughNoThreadCouldBeStartedToListen() throws Exception {
    ClientResources resources = ClientResources.create();
    try (RedisServer server = RedisServer.start();
        RedisStore other = RedisStore.connect(server.url())) {
      RedisURI uri = RedisURI.create(server.url());
      Starved client = new Starved(resources, uri);
      try (RedisStore store = RedisStore.over(client, uri, RedisOptions.defaults())) {
        Seam there = new Seam(other);
        Claim holder = there.claim("starved");
        there.take(holder);
        client.bells.set(1);
        CompletableFuture<Standing> rung = new CompletableFuture<>();
        Claim waiter = new Seam(store).claim("starved");

        assertThat(Seam.answer(store.attempt(waiter, rung::complete)))
            .isInstanceOf(Standing.Waiting.class);

        await().until(() -> subscribers(server) == 1);
        there.withdraw(holder);
        assertThat(rung.get(20, TimeUnit.SECONDS)).isInstanceOf(Standing.Held.class);
      } finally {
        client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
      }
    } finally {
      resources.shutdown().awaitUninterruptibly();
    }
  }

  @Test
  void everyCallEndsThoughNoThreadCouldBeStartedToDialAnew() {
    ClientResources resources = ClientResources.create();
    try (RedisServer server = RedisServer.start();
        FaultProxy proxy = FaultProxy.before(server)) {
      RedisURI uri = RedisURI.create("redis://" + proxy.host() + ":" + proxy.port());
      Starved client = new Starved(resources, uri);
      try (RedisStore store =
          RedisStore.over(client, uri, RedisOptions.defaults().timeout(Duration.ofMillis(300)))) {
        Seam seam = new Seam(store);
        seam.take(seam.claim("starved"));
        proxy.cut();
        client.dials.set(1);
        for (int i = 0; i < 2; i++) {
          assertThatThrownBy(() -> seam.take(seam.claim("unheard")))
              .isInstanceOf(StoreUnavailableException.class);
        }
        assertThat(client.dials).hasValue(0);
        await().until(() -> proxy.connections() > 1);
        proxy.heal();
        await()
            .ignoreException(StoreUnavailableException.class)
            .until(() -> seam.take(seam.claim("heard")) != null);
      } finally {
        client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
      }
    } finally {
      resources.shutdown().awaitUninterruptibly();
    }
  }

  /** Cannot start its thread, or has no memory, for so many of a store's requests. */
  private static final class ScarceTimer extends HashedWheelTimer {

    private final AtomicInteger failures = new AtomicInteger();

    @Override
    public Timeout newTimeout(TimerTask task, long delay, TimeUnit unit) {
      if (task.getClass().getName().startsWith(Wire.class.getName())) {
        Starved.failIfLeft(failures);
      }
      return super.newTimeout(task, delay, unit);
    }
  }

  @Test
  void everyCallEndsThoughTheTimerCouldNotBeStartedForOne() {
    ScarceTimer timer = new ScarceTimer();
    ClientResources resources = ClientResources.builder().timer(timer).build();
    try (RedisServer server = RedisServer.start()) {
      RedisURI uri = RedisURI.create(server.url());
      RedisClient client = RedisClient.create(resources, uri);
      try (RedisStore store =
          RedisStore.over(client, uri, RedisOptions.defaults().timeout(Duration.ofMillis(300)))) {
        Seam seam = new Seam(store);
        seam.take(seam.claim("before"));
        server.pause();
        timer.failures.set(1);
        for (int i = 0; i < 2; i++) {
          assertThatThrownBy(() -> seam.attempt(seam.claim("unheard")))
              .isInstanceOf(StoreUnavailableException.class);
        }
        assertThat(timer.failures).hasValue(0);
        server.resume();
        await()
            .ignoreException(StoreUnavailableException.class)
            .until(() -> seam.take(seam.claim("heard")) != null);
      } finally {
        client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
      }
    } finally {
      resources.shutdown().awaitUninterruptibly();
      timer.stop();
    }
  }

  @Test
  void whatAnOpenHasOpenedIsClosedThoughItFailsWithAnError() {
    ClientResources resources = ClientResources.create();
    try (RedisServer server = RedisServer.start()) {
      RedisURI uri = RedisURI.create(server.url());
      RedisOptions options = RedisOptions.defaults().waitReplicas(1, Duration.ofMillis(100));
      for (int good = 0; good < 2; good++) {
        Starved client = new Starved(resources, uri);
        client.goodDials.set(good);
        client.dials.set(1);
        int before = clients(List.of(server));

        assertThatThrownBy(() -> RedisStore.over(client, uri, options))
            .isInstanceOf(OutOfMemoryError.class);

        assertThat(client.dials).hasValue(0);
        nothingIsLeft(List.of(server), before);
        client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
      }
    } finally {
      resources.shutdown().awaitUninterruptibly();
    }
  }

  @Test
  void aConnectionThatComesWhenNobodyWaitsForItIsClosed() {
    try (RedisServer server = RedisServer.start()) {
      RedisURI uri = RedisURI.create(server.url());
      RedisClient client = RedisClient.create(uri);
      try (StatefulRedisConnection<String, String> theirs = client.connect()) {
        int before = clients(List.of(server));
        server.pause();
        RedisOptions impatient = RedisOptions.defaults().timeout(Duration.ofMillis(200));

        assertThatThrownBy(() -> RedisStore.over(client, uri, impatient))
            .isInstanceOf(StoreUnavailableException.class);

        server.resume();
        assertThat(theirs.sync().ping()).isEqualTo("PONG");
        nothingIsLeft(List.of(server), before);
      } finally {
        client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
      }
    }
  }

  private static long subscribers(RedisServer server) {
    return server.text("CLIENT", "LIST", "TYPE", "PUBSUB").trim().lines().count();
  }
}
