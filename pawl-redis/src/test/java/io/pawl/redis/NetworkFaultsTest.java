package io.pawl.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.error.StoreUnavailableException;
import io.pawl.options.LockOptions;
import io.pawl.servers.Direction;
import io.pawl.servers.FaultProxy;
import io.pawl.servers.FaultProxy.AfterDrop;
import io.pawl.servers.RedisServer;
import io.pawl.spi.Claim;
import io.pawl.spi.Standing;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a network can do to requests, replies and bells. */
class NetworkFaultsTest {

  private final RedisServer server = RedisServer.start();
  private final FaultProxy proxy = FaultProxy.before(server);
  private final RedisStore store =
      Seam.connect("redis://" + proxy.host() + ":" + proxy.port() + "?timeout=300ms");
  private final Seam seam = new Seam(store);
  private final RedisStore near = RedisStore.connect(server.url());
  private final Seam other = new Seam(near);

  /** So that no case meets a server that has not got the scripts. */
  @BeforeEach
  void loadScripts() {
    Claim claim = other.claim("load");
    other.take(claim);
    other.renew(claim);
    other.withdraw(claim);
  }

  @AfterEach
  void close() {
    store.close();
    near.close();
    proxy.close();
    server.close();
  }

  private void untilItAnswers(Runnable verb) {
    await()
        .ignoreException(StoreUnavailableException.class)
        .until(
            () -> {
              verb.run();
              return true;
            });
  }

  @ParameterizedTest
  @EnumSource
  void anAcquireWhoseReplyWasDroppedIsHeldByItsRetry(AfterDrop then) {
    Claim claim = seam.claim("dropped");
    proxy.dropReplies(1, then, "EVALSHA");
    assertThatThrownBy(() -> seam.attempt(claim)).isInstanceOf(StoreUnavailableException.class);
    Standing.Held held = (Standing.Held) Seam.answer(near.renew(List.of(claim))).get(claim.id());
    proxy.heal();
    untilItAnswers(() -> assertThat(seam.take(claim)).isEqualTo(held));
  }

  @Test
  void aReleaseWhoseReplyWasDroppedLeavesALaterHoldAlone() {
    Claim first = seam.claim("release");
    seam.take(first);
    proxy.dropReplies(1, AfterDrop.RESET, "EVALSHA");
    assertThatThrownBy(() -> seam.withdraw(first)).isInstanceOf(StoreUnavailableException.class);
    Claim second = other.claim("release");
    Standing.Held held = other.take(second);
    untilItAnswers(() -> seam.withdraw(first));
    assertThat(other.renew(second)).isEqualTo(held);
  }

  @ParameterizedTest
  @EnumSource
  void everyCallIntoABlackHoleEndsAndLaterOnesSucceed(Direction direction) {
    Claim claim = seam.claim("hole");
    seam.take(claim);
    proxy.blackHole(direction);
    assertThatThrownBy(() -> seam.renew(claim)).isInstanceOf(StoreUnavailableException.class);
    Claim doubtful = seam.claim("hole");
    assertThatThrownBy(() -> seam.attempt(doubtful)).isInstanceOf(StoreUnavailableException.class);
    assertThatThrownBy(() -> seam.withdraw(claim)).isInstanceOf(StoreUnavailableException.class);
    proxy.heal();
    untilItAnswers(() -> seam.withdraw(claim));
    untilItAnswers(() -> seam.withdraw(doubtful.asUnsettled()));
    untilItAnswers(() -> other.take(other.claim("hole")));
  }

  @Test
  void anAttemptThatArrivesAfterItsWithdrawalIsRefused() {
    Claim claim = seam.claim("late");
    Claim warm = seam.claim("warm");
    seam.take(warm);
    proxy.cut();
    assertThatThrownBy(() -> seam.attempt(claim)).isInstanceOf(StoreUnavailableException.class);
    Seam.answer(near.withdraw(claim.asUnsettled()));
    proxy.heal(); // and the attempt goes through
    untilItAnswers(() -> seam.renew(warm));
    assertThat(Seam.answer(near.renew(List.of(claim))).get(claim.id())).isEqualTo(Standing.GONE);
    other.take(other.claim("late"));
  }

  @Test
  void aConnectionThatFellSilentIsReplacedOnceHoweverManyCommandsItOwes() {
    try (RedisStore patient =
        Seam.connect("redis://" + proxy.host() + ":" + proxy.port() + "?timeout=3s")) {
      Seam owing = new Seam(patient);
      Claim claim = owing.claim("owed");
      owing.take(claim);
      long before = connectionsSoFar();
      proxy.dropReplies(1, AfterDrop.SILENCE, "EVALSHA");
      List<CompletableFuture<?>> owed = new ArrayList<>();
      await()
          .pollInterval(Duration.ofMillis(20))
          .until(
              () -> {
                owed.add(patient.renew(List.of(claim)).toCompletableFuture());
                return owed.get(0).isDone();
              });
      await().until(() -> owed.stream().allMatch(CompletableFuture::isDone));

      assertThat(owing.renew(claim)).isInstanceOf(Standing.Held.class);
      assertThat(connectionsSoFar() - before).isEqualTo(2); // ours, and that of the question
    }
  }

  private long connectionsSoFar() {
    return server
        .text("INFO", "stats")
        .lines()
        .filter(line -> line.startsWith("total_connections_received:"))
        .mapToLong(line -> Long.parseLong(line.substring(line.indexOf(':') + 1).strip()))
        .sum();
  }

  @Test
  void commandsUnderWayFailAtOnceWhenTheConnectionEnds() throws Exception {
    try (RedisStore patient =
        RedisStore.connect("redis://" + proxy.host() + ":" + proxy.port() + "?timeout=60s")) {
      Seam waiting = new Seam(patient);
      waiting.take(waiting.claim("warm"));
      proxy.cut();
      CompletableFuture<Standing> attempt =
          patient.attempt(waiting.claim("reset"), standing -> {}).toCompletableFuture();
      proxy.reset();
      assertThatThrownBy(() -> attempt.get(20, TimeUnit.SECONDS))
          .hasCauseInstanceOf(StoreUnavailableException.class);
    }
  }

  @Test
  void aWaiterIsServedThoughPushesAreDropped() throws Exception {
    proxy.dropPushes();
    assertWaiterIsServed(() -> {});
    assertThat(proxy.droppedPushes()).isPositive();
  }

  @Test
  void aWaiterIsServedThoughItsSubscriptionWasKilled() throws Exception {
    assertWaiterIsServed(() -> server.call("CLIENT", "KILL", "TYPE", "pubsub"));
  }

  private void assertWaiterIsServed(Runnable fault) throws Exception {
    LockOptions strict = LockOptions.defaults().strictOrder();
    try (Pawl far = Pawl.over(store);
        Pawl here = Pawl.over(near)) {
      Lease lease = here.lock("bell", strict).acquire();
      CompletableFuture<Optional<Lease>> waiter =
          far.lock("bell", strict).tryAcquireAsync(Duration.ofMinutes(5));
      await().until(() -> server.list("PUBSUB", "CHANNELS").size() == 1);
      fault.run();
      lease.close();
      assertThat(waiter.get(20, TimeUnit.SECONDS)).isPresent();
    }
  }
}
