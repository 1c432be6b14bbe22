package io.pawl.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.pawl.error.StoreConfigurationException;
import io.pawl.servers.FaultProxy;
import io.pawl.servers.ZooKeeperServer;
import io.pawl.spi.StoreUrl;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A session ends though no thread can be started for that: it would live as long as the JVM. */
class FarewellTest {

  private final ZooKeeperServer server = ZooKeeperServer.start(ContractServers.OPTIONS);
  private final FaultProxy proxy = FaultProxy.before(server);
  private final AtomicBoolean threadless = new AtomicBoolean(true);
  private final Clock clock = new Clock();
  private final Settings settings =
      Settings.parse(
          StoreUrl.parse("zk://" + proxy.host() + ":" + proxy.port() + ContractServers.PARAMETERS));
  private final Farewell farewell = new Farewell(this::thread);
  private final Sessions sessions = new Sessions(settings, clock, farewell, session -> {});

  private Thread thread(Runnable task) {
    return new Thread(task) {
      @Override
      public void start() {
        if (threadless.get()) {
          throw new InternalError("for a test");
        }
        super.start();
      }
    };
  }

  @AfterEach
  void close() {
    threadless.set(false);
    proxy.heal();
    sessions.close();
    clock.close();
    proxy.close();
    server.close();
  }

  /** ZooKeeper's client names its threads after the server. */
  private List<String> threads() {
    return Thread.getAllStackTraces().keySet().stream()
        .map(Thread::getName)
        .filter(name -> name.contains(":" + proxy.port()))
        .toList();
  }

  private void assertNothingIsLeft() {
    await().untilAsserted(() -> assertThat(threads()).isEmpty());
    await().untilAsserted(() -> assertThat(proxy.connections()).isZero());
  }

  private static void awaitOpen(Session session) {
    CompletableFuture<Void> open = new CompletableFuture<>();
    session.admit(() -> open.complete(null), open::completeExceptionally);
    open.orTimeout(20, TimeUnit.SECONDS).join();
  }

  @Test
  void aStoreThatClosesEndsItsSessions() {
    Session used = sessions.of(60_000);
    Session unused = sessions.of(61_000);
    unused.leave();
    awaitOpen(used);
    awaitOpen(unused);
    awaitOpen(sessions.base());

    sessions.close();

    assertNothingIsLeft();
  }

  @Test
  void aSessionThatNobodyUsesIsEndedForAnotherOne() {
    for (int i = 0; i <= Sessions.MOST; i++) {
      sessions.of(60_000 + i).leave();
    }

    sessions.close();

    assertNothingIsLeft();
  }

  /** What stands under it is still trusted, so it is left to run out, and has to be silent. */
  @Test
  void aSessionThatAnotherServerGrantsOtherwiseEnds() {
    AtomicInteger grants = new AtomicInteger();
    Session session =
        new Session(
            settings,
            clock,
            60_000,
            Duration.ofMillis(100).toNanos(),
            granted ->
                grants.incrementAndGet() == 1
                    ? null
                    : new StoreConfigurationException("another time-out, for a test"),
            farewell,
            ended -> {});
    awaitOpen(session);

    proxy.reset();

    await().until(session::isEnded);
    assertNothingIsLeft();
  }

  /** Such a session is replaced before it has ended. */
  @Test
  void p8_nothingLeft_aStoreThatClosesWaitsForSessionsWhoseEndHasBegun() throws Exception {
    CountDownLatch slow = new CountDownLatch(1);
    List<Thread> slowly = new CopyOnWriteArrayList<>();
    List<Thread> others = new CopyOnWriteArrayList<>();
    AtomicBoolean closing = new AtomicBoolean();
    ThreadFactory threads =
        task -> {
          Thread thread = new Thread(closing.get() ? task : () -> after(slow, task));
          (closing.get() ? others : slowly).add(thread);
          return thread;
        };
    Sessions full = new Sessions(settings, clock, new Farewell(threads), session -> {});
    for (int i = 0; i <= Sessions.MOST; i++) {
      full.of(60_000 + i).leave();
    }
    closing.set(true);
    AtomicBoolean left = new AtomicBoolean();
    Thread closer =
        new Thread(
            () -> {
              full.close();
              left.set(slowly.stream().anyMatch(Thread::isAlive));
            });

    closer.start();
    await()
        .until(() -> others.size() >= Sessions.MOST && others.stream().noneMatch(Thread::isAlive));
    await().until(() -> closer.getState() != Thread.State.RUNNABLE);
    slow.countDown();
    closer.join();

    assertThat(slowly).isNotEmpty();
    assertThat(left).isFalse();
  }

  /** Whoever has taken it out of the store ends it a moment later. */
  @Test
  void p8_nothingLeft_aStoreThatClosesEndsASessionThatIsAboutToBeEndedForAnotherOne() {
    AtomicReference<Runnable> ends = new AtomicReference<>(() -> {});
    Sessions full =
        new Sessions(
            settings, clock, new Farewell(Thread::new), session -> ends.getAndSet(() -> {}).run());
    for (int i = 0; i < Sessions.MOST; i++) {
      Session unused = full.of(60_000 + i);
      awaitOpen(unused);
      unused.leave();
    }
    ends.set(
        () -> {
          CompletableFuture.runAsync(full::close).orTimeout(20, TimeUnit.SECONDS).join();
          assertNothingIsLeft();
        });

    full.of(70_000).leave();

    assertNothingIsLeft();
  }

  private static void after(CountDownLatch latch, Runnable task) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    task.run();
  }
}
