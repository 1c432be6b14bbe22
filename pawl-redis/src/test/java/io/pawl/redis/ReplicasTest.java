package io.pawl.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.pawl.DistributedReadWriteLock;
import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.error.StoreUnavailableException;
import io.pawl.options.LockOptions;
import io.pawl.options.PawlOptions;
import io.pawl.servers.FaultProxy;
import io.pawl.servers.RedisServer;
import io.pawl.spi.Claim;
import io.pawl.spi.Standing;
import java.lang.reflect.Proxy;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** With {@code waitReplicas} nobody hears of a grant that too few replicas have. */
class ReplicasTest {

  private static final Duration LONG = Duration.ofMinutes(5);

  /** Connections of stores, the oldest first. */
  private static final Pattern PAWLS = Pattern.compile("(?m)^id=(\\d+) .* name=pawl ");

  private final RedisServer primary = RedisServer.start();
  private final RedisServer replica = RedisServer.setup().replicaOf(primary).start();
  private final FaultProxy proxy = FaultProxy.before(primary);
  private final RedisStore store =
      RedisStore.connect(
          "redis://"
              + proxy.host()
              + ":"
              + proxy.port()
              + "?waitReplicas=1&waitTimeout=900ms&timeout=2s");
  private final RedisStore plainStore = RedisStore.connect(primary.url());
  private final Seam careful = new Seam(store);
  private final Seam plain = new Seam(plainStore);

  @BeforeEach
  void replicate() {
    primary.call("SET", "first", "write");
    await().until(() -> replica.call("EXISTS", "first").equals(1L));
  }

  @AfterEach
  void close() {
    replica.resume();
    store.close();
    plainStore.close();
    proxy.close();
    replica.close();
    primary.close();
  }

  private boolean isHeldAtTheServer(Claim claim) {
    return Seam.answer(plainStore.show(claim.lock())).orElseThrow().holders().stream()
        .anyMatch(holder -> holder.id().equals(claim.id()));
  }

  /** Until its renewal has failed for want of replicas; never held meanwhile. */
  private void assertNotConfirmed(Claim claim) {
    await()
        .until(
            () -> {
              try {
                assertThat(careful.renew(claim)).isNotInstanceOf(Standing.Held.class);
                return false;
              } catch (StoreUnavailableException tooFew) {
                return true;
              }
            });
  }

  @Test
  void aConfirmedGrantIsOnTheReplica() {
    careful.take(careful.claim("wait"));
    assertThat(replica.list("KEYS", "pawl:*")).isEqualTo(List.of(Keys.of("wait")));
  }

  @Test
  void anAttemptThatTooFewReplicasConfirmIsUnknownAndStandsUntilTheEngineWithdrawsIt() {
    replica.pause();
    Claim unconfirmed = careful.claim("wait");
    assertThatThrownBy(() -> careful.attempt(unconfirmed))
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining("0 of 1 replicas")
        .matches(error -> !((StoreUnavailableException) error).isUnsent());
    assertThat(isHeldAtTheServer(unconfirmed)).isTrue();

    careful.withdraw(unconfirmed.asUnsettled());
    plain.take(plain.claim("wait"));
  }

  /** Else a quorum would take its node for one that has nothing, and never give the grant back. */
  @Test
  void aGrantWhoseConfirmationFindsNoConnectionIsNotTakenForUnsent() {
    Claim granted = careful.claim("wait");
    proxy.refuse();
    Matcher connections = PAWLS.matcher((String) primary.call("CLIENT", "LIST"));
    assertThat(connections.results().skip(1).limit(1))
        .as("the one of the confirmations")
        .hasSize(1)
        .allSatisfy(second -> primary.call("CLIENT", "KILL", "ID", second.group(1)));

    await()
        .untilAsserted(
            () ->
                assertThatThrownBy(() -> careful.attempt(granted))
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("there is no connection")
                    .matches(error -> !((StoreUnavailableException) error).isUnsent()));
    assertThat(isHeldAtTheServer(granted)).isTrue();
  }

  @Test
  void anAttemptIsConfirmedWhenItIsRepeatedOnceTheReplicaIsBack() {
    replica.pause();
    Claim claim = careful.claim("wait");
    assertThatThrownBy(() -> careful.attempt(claim)).isInstanceOf(StoreUnavailableException.class);
    replica.resume();
    await()
        .ignoreException(StoreUnavailableException.class)
        .until(() -> careful.take(claim) != null);
    assertThat(careful.renew(claim)).isInstanceOf(Standing.Held.class);
  }

  /** All replicas are in step with a connection that has written nothing since. */
  @Test
  void replicasAreAskedForWhereTheGrantWasWrittenThoughTheConnectionIsReplacedMeanwhile()
      throws Exception {
    RedisURI uri = RedisURI.create(primary.url());
    RedisClient client = RedisClient.create(uri);
    Servers one = new OneServer(client, uri, false, List.of(), "redis://replaced");
    RedisOptions options = RedisOptions.defaults().waitReplicas(1, Duration.ofMillis(300));
    Failures failures = new Failures(one.describe());
    Claim claim = plain.claim("replaced");
    Queue<CompletionStage<?>> connections = new ArrayDeque<>(List.of(one.dial(), one.dial()));
    for (CompletionStage<?> dialled : connections) {
      dialled.toCompletableFuture().get(20, TimeUnit.SECONDS);
    }
    await().until(this::isInStep);
    replica.pause();
    Standing.Held held = plain.take(claim);
    try (Confirmations confirmations =
        new Confirmations(
            one,
            Handshake.another(withNodes(one, connections::remove), failures, options, false),
            failures,
            Scripts.load().renew(),
            "nobody's",
            options,
            System::nanoTime,
            (reply, rings) -> {})) {
      assertThat(confirmations.of(claim, held, false))
          .failsWithin(Duration.ofSeconds(20))
          .withThrowableThat()
          .withCauseInstanceOf(StoreUnavailableException.class)
          .withMessageContaining("0 of 1 replicas");
    } finally {
      client.shutdown();
    }
  }

  /** As when a lease was dropped without being closed, which is never withdrawn. */
  @Test
  void grantsAreForgottenOfWhichNobodySpeaksAnyMore() {
    RedisURI uri = RedisURI.create(primary.url());
    RedisClient client = RedisClient.create(uri);
    Servers one = new OneServer(client, uri, false, List.of(), "redis://forgotten");
    RedisOptions options = RedisOptions.defaults().waitReplicas(1, Duration.ofSeconds(1));
    Failures failures = new Failures(one.describe());
    AtomicLong now = new AtomicLong();
    try (Confirmations confirmations =
        new Confirmations(
            one,
            Handshake.another(one, failures, options, false),
            failures,
            Scripts.load().renew(),
            "nobody's",
            options,
            now::get,
            (reply, rings) -> {})) {
      Claim dropped = plain.claim("dropped");
      Claim renewed = plain.claim("renewed");
      Standing.Held lost = plain.take(dropped);
      Standing.Held kept = plain.take(renewed);
      assertThat(confirmations.of(dropped, lost, false)).succeedsWithin(Duration.ofSeconds(20));
      assertThat(confirmations.of(renewed, kept, false)).succeedsWithin(Duration.ofSeconds(20));
      now.addAndGet(dropped.lease().multipliedBy(2).plusMinutes(2).toNanos());
      assertThat(confirmations.known(renewed.id(), kept)).isNotNull();

      for (int i = 0; i < Confirmations.SWEEP_EVERY; i++) {
        confirmations.of(plain.claim("other"), kept, false);
      }

      assertThat(confirmations.known(dropped.id(), lost)).isNull();
      assertThat(confirmations.known(renewed.id(), kept)).isNotNull();
    } finally {
      client.shutdown();
    }
  }

  private boolean isInStep() {
    String about = primary.text("INFO", "replication");
    Matcher offset = Pattern.compile("master_repl_offset:(\\d+)").matcher(about);
    return offset.find() && about.contains("offset=" + offset.group(1) + ",");
  }

  @Test
  void anErrorOfTheJvmFailsAConfirmationAndNoneAfterIt() {
    RedisURI uri = RedisURI.create(primary.url());
    RedisClient client = RedisClient.create(uri);
    Servers one = new OneServer(client, uri, false, List.of(), "redis://short");
    AtomicBoolean failed = new AtomicBoolean();
    Servers shortOnce =
        withNodes(
            one,
            () -> {
              if (failed.compareAndSet(false, true)) {
                throw new StackOverflowError("scripted");
              }
              return one.dial();
            });
    RedisOptions options =
        RedisOptions.defaults()
            .timeout(Duration.ofSeconds(20))
            .waitReplicas(1, Duration.ofSeconds(10));
    Failures failures = new Failures(one.describe());
    Claim claim = plain.claim("short");
    Standing.Held held = plain.take(claim);
    try (Confirmations confirmations =
        new Confirmations(
            one,
            Handshake.another(shortOnce, failures, options, false),
            failures,
            Scripts.load().renew(),
            "nobody's",
            options,
            System::nanoTime,
            (reply, rings) -> {})) {
      assertThat(confirmations.of(claim, held, false))
          .failsWithin(Duration.ofSeconds(20))
          .withThrowableThat()
          .withRootCauseInstanceOf(StackOverflowError.class);
      assertThat(confirmations.of(claim, held, false)).succeedsWithin(Duration.ofSeconds(20));
    } finally {
      client.shutdown();
    }
  }

  @Test
  void anErrorOfTheJvmAsABatchIsPutTogetherFailsItsFirstGrantAndNoneAfterIt() {
    RedisURI uri = RedisURI.create(primary.url());
    RedisClient client = RedisClient.create(uri);
    Servers one = new OneServer(client, uri, false, List.of(), "redis://short");
    RedisOptions options =
        RedisOptions.defaults()
            .timeout(Duration.ofSeconds(20))
            .waitReplicas(1, Duration.ofSeconds(10));
    Failures failures = new Failures(one.describe());
    Claim claim = plain.claim("short");
    Standing.Held held = plain.take(claim);
    AtomicInteger looks = new AtomicInteger();
    try (Confirmations confirmations =
        new Confirmations(
            one,
            Handshake.another(one, failures, options, false),
            failures,
            Scripts.load().renew(),
            "nobody's",
            options,
            () -> {
              if (looks.incrementAndGet() == 2) { // the first is for the grant itself
                throw new StackOverflowError("scripted");
              }
              return 0;
            },
            (reply, rings) -> {})) {
      assertThat(confirmations.of(claim, held, false))
          .failsWithin(Duration.ofSeconds(20))
          .withThrowableThat()
          .withRootCauseInstanceOf(StackOverflowError.class);
      assertThat(confirmations.of(claim, held, false)).succeedsWithin(Duration.ofSeconds(20));
    } finally {
      client.shutdown();
    }
  }

  /** Its caller gave up while it stood in line for a WAIT with others. */
  @Test
  void aClaimThatIsWithdrawnBeforeItsConfirmationFailsNoOther() {
    RedisURI uri = RedisURI.create(primary.url());
    RedisClient client = RedisClient.create(uri);
    Servers one = new OneServer(client, uri, false, List.of(), "redis://withdrawn");
    RedisOptions options =
        RedisOptions.defaults()
            .timeout(Duration.ofSeconds(40))
            .waitReplicas(1, Duration.ofSeconds(30));
    Failures failures = new Failures(one.describe());
    Claim first = plain.claim("first in line");
    Claim withdrawn = plain.claim("withdrawn");
    Claim other = plain.claim("other");
    try (Confirmations confirmations =
        new Confirmations(
            one,
            Handshake.another(one, failures, options, false),
            failures,
            Scripts.load().renew(),
            "nobody's",
            options,
            System::nanoTime,
            (reply, rings) -> {})) {
      replica.pause();
      CompletableFuture<Void> underWay = confirmations.of(first, plain.take(first), false);
      await().until(() -> primary.text("INFO", "clients").contains("blocked_clients:1"));
      CompletableFuture<Void> gone = confirmations.of(withdrawn, plain.take(withdrawn), false);
      CompletableFuture<Void> confirmed = confirmations.of(other, plain.take(other), false);
      plain.withdraw(withdrawn);
      confirmations.forget(withdrawn.id());
      replica.resume();

      assertThat(underWay).succeedsWithin(Duration.ofSeconds(40));
      assertThat(confirmed).succeedsWithin(Duration.ofSeconds(40));
      assertThat(gone)
          .failsWithin(Duration.ofSeconds(40))
          .withThrowableThat()
          .withMessageContaining("no longer knows");
    } finally {
      client.shutdown();
    }
  }

  /** The other one may lead to another server, which has heard of the second grant alone. */
  @Test
  void noReplicaIsAskedOnAnotherConnectionThanTheOneThatWroteTheGrant() {
    RedisURI uri = RedisURI.create(primary.url());
    RedisClient client = RedisClient.create(uri);
    Servers one = new OneServer(client, uri, false, List.of(), "redis://reopened");
    RedisOptions options =
        RedisOptions.defaults()
            .timeout(Duration.ofSeconds(20))
            .waitReplicas(1, Duration.ofSeconds(10));
    Failures failures = new Failures(one.describe());
    AtomicReference<Wire> wire = new AtomicReference<>();
    wire.set(
        Handshake.another(
            withNodes(one, () -> reopenedAfterOneCommand(wire.get())), failures, options, false));
    Claim first = plain.claim("first");
    Claim second = plain.claim("second");
    Standing.Held firstHeld = plain.take(first);
    Standing.Held secondHeld = plain.take(second);
    plain.renew(first); // so that the server has the script
    AtomicReference<Confirmations> confirmations = new AtomicReference<>();
    AtomicReference<CompletableFuture<Void>> beside = new AtomicReference<>();
    AtomicInteger looks = new AtomicInteger();
    confirmations.set(
        new Confirmations(
            one,
            wire.get(),
            failures,
            Scripts.load().renew(),
            "nobody's",
            options,
            () -> {
              if (looks.incrementAndGet() == 2) { // as the batch of the first is put together
                beside.set(confirmations.get().of(second, secondHeld, false));
              }
              return 0;
            },
            (reply, rings) -> {}));
    try (Confirmations open = confirmations.get()) {
      assertThat(open.of(first, firstHeld, false))
          .failsWithin(Duration.ofSeconds(40))
          .withThrowableThat()
          .withMessageContaining("lost the connection");
      assertThat(beside.get()).failsWithin(Duration.ofSeconds(40));
    } finally {
      client.shutdown();
    }
  }

  private CompletionStage<?> reopenedAfterOneCommand(Wire wire) {
    StatefulConnection<String, String> real = wire.connection();
    CountDownLatch reopened = new CountDownLatch(1);
    real.addListener(
        new RedisConnectionStateListener() {
          @Override
          public void onRedisConnected(RedisChannelHandler<?, ?> handler, SocketAddress to) {
            reopened.countDown();
          }
        });
    Queue<Call> sent = new ArrayDeque<>();
    return CompletableFuture.completedFuture(
        Proxy.newProxyInstance(
            getClass().getClassLoader(),
            new Class<?>[] {StatefulRedisConnection.class},
            (proxy, method, arguments) -> {
              if (arguments != null && arguments[0] instanceof Call call) {
                if (sent.size() == 1) {
                  Seam.answer(sent.element());
                  primary.call("CLIENT", "KILL", "TYPE", "NORMAL");
                  assertThat(reopened.await(20, TimeUnit.SECONDS)).isTrue();
                }
                sent.add(call);
              }
              return method.invoke(real, arguments);
            }));
  }

  /** A node of a Cluster to which no connection can be opened keeps nobody waiting for longer. */
  @Test
  void aConfirmationEndsThoughNoConnectionToItsNodeIsOpened() {
    RedisURI uri = RedisURI.create(primary.url());
    RedisClient client = RedisClient.create(uri);
    Servers one = new OneServer(client, uri, false, List.of(), "redis://unopened");
    RedisOptions options =
        RedisOptions.defaults()
            .timeout(Duration.ofMillis(500))
            .waitReplicas(1, Duration.ofMillis(400));
    Failures failures = new Failures(one.describe());
    Claim claim = plain.claim("unopened");
    Standing.Held held = plain.take(claim);
    try (Confirmations confirmations =
        new Confirmations(
            one,
            Handshake.another(withNodes(one, CompletableFuture::new), failures, options, false),
            failures,
            Scripts.load().renew(),
            "nobody's",
            options,
            System::nanoTime,
            (reply, rings) -> {})) {
      assertThat(confirmations.of(claim, held, false))
          .failsWithin(Duration.ofSeconds(20))
          .withThrowableThat()
          .withCauseInstanceOf(StoreUnavailableException.class);
    } finally {
      client.shutdown();
    }
  }

  @Test
  void everyAttemptEndsInTimeHoweverManyWaitForReplicas() throws Exception {
    replica.pause();
    try (RedisStore brief =
        Seam.connect(primary.url() + "?waitReplicas=1&waitTimeout=400ms&timeout=500ms")) {
      List<CompletableFuture<Void>> ends = new ArrayList<>();
      for (int i = 0; i < 6_000; i++) {
        ends.add(
            brief
                .attempt(careful.claim("many" + i), standing -> {})
                .<Void>handle((standing, error) -> null)
                .toCompletableFuture());
      }
      CompletableFuture.allOf(ends.toArray(CompletableFuture[]::new)).get(6, TimeUnit.SECONDS);
    }
  }

  private static Servers withNodes(Servers servers, Supplier<CompletionStage<?>> nodes) {
    return (Servers)
        Proxy.newProxyInstance(
            Servers.class.getClassLoader(),
            new Class<?>[] {Servers.class},
            (proxy, method, arguments) ->
                method.getName().equals("nodeOf")
                    ? nodes.get()
                    : method.invoke(servers, arguments));
  }

  @Test
  void aGrantFoundByARenewalIsNotHandedOutUnconfirmed() {
    Claim holder = plain.claim("renewal");
    plain.take(holder);
    Claim waiter = careful.claim("renewal");
    assertThat(careful.attempt(waiter)).isInstanceOf(Standing.Waiting.class);
    replica.pause();
    proxy.dropPushes();
    plain.withdraw(holder);

    assertNotConfirmed(waiter);
    assertThat(isHeldAtTheServer(waiter)).isTrue();
    replica.resume();
    await()
        .ignoreException(StoreUnavailableException.class)
        .until(() -> careful.attempt(waiter) instanceof Standing.Held);
    assertThat(careful.renew(waiter)).isInstanceOf(Standing.Held.class);
  }

  @Test
  void aBellThatTooFewReplicasConfirmDoesNotRing() {
    Claim holder = plain.claim("bell");
    plain.take(holder);
    Claim waiter = careful.claim("bell");
    ConcurrentLinkedQueue<Standing> rung = new ConcurrentLinkedQueue<>();
    Seam.answer(store.attempt(waiter, rung::add));
    await().until(() -> primary.list("PUBSUB", "CHANNELS").size() == 1);
    replica.pause();
    plain.withdraw(holder);

    assertNotConfirmed(waiter);
    assertThat(rung).isEmpty();
    assertThat(isHeldAtTheServer(waiter)).isTrue();
  }

  @Test
  void aBellRingsOnceTheGrantIsConfirmed() {
    Claim holder = plain.claim("bell");
    plain.take(holder);
    Claim waiter = careful.claim("bell");
    ConcurrentLinkedQueue<Standing> rung = new ConcurrentLinkedQueue<>();
    Seam.answer(store.attempt(waiter, rung::add));
    plain.withdraw(holder);
    await()
        .until(
            () -> {
              careful.renew(waiter);
              return !rung.isEmpty();
            });
    assertThat(careful.renew(waiter)).isEqualTo(rung.peek());
    assertThat(replica.list("KEYS", "pawl:*")).isEqualTo(List.of(Keys.of("bell")));
  }

  /** The dead holder's end is found by the waiter's own renewal, whose reply has its bell too. */
  @Test
  void p1_oneHolder_whileAnotherContendsForAGrantThatIsNotConfirmed() {
    LockOptions strict = LockOptions.defaults().strictOrder();
    PawlOptions impatient = PawlOptions.defaults().patience(Duration.ofSeconds(1));
    try (Pawl doubtful = Pawl.over(store, impatient);
        Pawl rival = Pawl.over(plainStore)) {
      plain.take(plain.claim("contended", Duration.ofSeconds(1), 1));
      replica.pause();
      CompletableFuture<Optional<Lease>> first =
          doubtful.lock("contended", strict).tryAcquireAsync(LONG);
      await()
          .until(
              () -> Seam.answer(plainStore.show("contended")).orElseThrow().waiters().size() == 1);
      CompletableFuture<Optional<Lease>> second =
          rival.lock("contended", strict).tryAcquireAsync(LONG);
      await()
          .atMost(Duration.ofMinutes(1))
          .until(
              () -> {
                boolean rivalHolds = second.isDone() && second.join().orElseThrow().isValid();
                boolean doubtfulHolds =
                    first.isDone()
                        && !first.isCompletedExceptionally()
                        && first.join().orElseThrow().isValid();
                assertThat(rivalHolds && doubtfulHolds).as("two holders").isFalse();
                return rivalHolds;
              });
      assertThat(first).isCompletedExceptionally();
    }
  }

  @Test
  void aDowngradeKeepsItsHoldThoughNoReplicaConfirmsAnything() throws InterruptedException {
    try (Pawl pawl = Pawl.over(store);
        Pawl elsewhere = Pawl.over(plainStore)) {
      DistributedReadWriteLock there = elsewhere.readWriteLock("downgrade");
      Lease lease = pawl.readWriteLock("downgrade").writeLock().acquire();
      replica.pause();
      lease.downgrade();
      assertThat(lease.isValid()).isTrue();
      assertThat(there.writeLock().tryAcquire()).isEmpty();
      assertThat(there.readLock().tryAcquire()).isPresent();
      assertThat(lease.isValid()).isTrue();
    }
  }

  @Test
  void renewalsOfOtherLocksDoNotWaitForReplicas() {
    Claim held = careful.claim("held");
    careful.take(held);
    replica.pause();
    List<CompletableFuture<Standing>> attempts = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      attempts.add(store.attempt(careful.claim("other" + i), standing -> {}).toCompletableFuture());
    }
    await().until(() -> primary.text("INFO", "clients").contains("blocked_clients:1"));
    assertThat(careful.renew(held)).isInstanceOf(Standing.Held.class);
    assertThat(attempts)
        .allSatisfy(
            each ->
                assertThatThrownBy(() -> Seam.answer(each))
                    .isInstanceOf(StoreUnavailableException.class));
  }
}
