package io.pawl.zookeeper;

import static io.pawl.zookeeper.Seam.untilItAnswers;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.pawl.error.StoreUnavailableException;
import io.pawl.servers.Direction;
import io.pawl.servers.FaultProxy;
import io.pawl.servers.ZooKeeperServer;
import io.pawl.spi.Claim;
import io.pawl.spi.Inspectable.LockView;
import io.pawl.spi.Kind;
import io.pawl.spi.Standing;
import io.pawl.tck.rig.Bench;
import java.time.Duration;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a network can do to requests and replies. */
class NetworkFaultsTest {

  private static final Duration SHORT = Duration.ofSeconds(1);
  private static final int MOST_ROUNDS = 10;

  private final ZooKeeperServer server = ZooKeeperServer.start(ContractServers.OPTIONS);
  private final FaultProxy proxy = FaultProxy.before(server);
  private final ZooKeeperStore store =
      Seam.connect("zk://" + proxy.host() + ":" + proxy.port() + "?tick=100ms&timeout=700ms");
  private final Seam seam = new Seam(store);
  private final ZooKeeperStore near = Seam.connect("zk://" + server.address() + "?tick=100ms");
  private final Seam other = new Seam(near);

  /** So that no case meets a session that is not open yet. */
  @BeforeEach
  void openTheSession() {
    Claim claim = seam.claim("warm");
    untilItAnswers(() -> seam.take(claim));
    untilItAnswers(() -> seam.withdraw(claim));
  }

  @AfterEach
  void close() {
    proxy.heal();
    store.close();
    near.close();
    proxy.close();
    server.close();
  }

  private LockView show(String lock) {
    return Seam.answer(near.show(lock)).orElseThrow();
  }

  /** An attempt that is carried out and that nobody hears of; a stall may keep it from both. */
  private Claim attemptWithoutAnswer(String lock) {
    return attemptWithoutAnswer(() -> seam.claim(lock));
  }

  private Claim attemptWithoutAnswer(Supplier<Claim> claims) {
    for (int round = 0; round < MOST_ROUNDS; round++) {
      Claim claim = claims.get();
      String lock = claim.lock();
      proxy.blackHole(Direction.TO_CLIENT);
      assertThatThrownBy(() -> seam.attempt(claim)).isInstanceOf(StoreUnavailableException.class);
      boolean made = Seam.answer(near.show(lock)).filter(view -> isIn(view, claim)).isPresent();
      proxy.reset();
      proxy.heal();
      if (made) {
        return claim;
      }
      untilItAnswers(() -> seam.withdraw(claim.asUnsettled()));
      openTheSession();
    }
    throw new AssertionError("no attempt arrived");
  }

  private static boolean isIn(LockView view, Claim claim) {
    return holds(view, claim)
        || view.waiters().stream().anyMatch(waiter -> waiter.id().equals(claim.id()));
  }

  private static boolean holds(LockView view, Claim claim) {
    return view.holders().stream().anyMatch(holder -> holder.id().equals(claim.id()));
  }

  @Test
  void aNodeWhoseReplyWasLostIsAdoptedByTheRetry() {
    Claim claim = attemptWithoutAnswer("adopted");

    Standing.Held held = untilItAnswers(() -> seam.take(claim));

    assertThat(show("adopted").lastToken()).isEqualTo(held.lastToken());
    assertThat(show("adopted").holders()).hasSize(1);
    assertThat(show("adopted").waiters()).isEmpty();
  }

  @Test
  void aNodeWhoseReplyWasLostLeavesNoGhostInTheQueue() {
    Claim claim = attemptWithoutAnswer("ghost");

    untilItAnswers(() -> seam.withdraw(claim.asUnsettled()));

    assertThat(show("ghost").holders()).isEmpty();
    other.take(other.claim("ghost"));
    assertThat(seam.attempt(claim)).isEqualTo(Standing.GONE);
  }

  @Test
  void aWaiterWhoseReplyWasLostKeepsItsPlaceThoughPermitsWereAddedMeanwhile() {
    Claim holder = other.permits("permits", 2, 2);
    other.take(holder);
    Claim claim = attemptWithoutAnswer(() -> seam.permits("permits", 2, 2));

    assertThat(Seam.answer(near.setKind("permits", Kind.semaphore(3)))).isTrue();

    assertThat(untilItAnswers(() -> seam.attempt(claim))).isInstanceOf(Standing.Waiting.class);
    other.withdraw(holder);
    await().until(() -> untilItAnswers(() -> seam.renew(claim)) instanceof Standing.Held);
  }

  @Test
  void aWaiterWhoseReplyWasLostLosesItsPlaceWhereTooFewPermitsWereLeftMeanwhile() {
    other.take(other.permits("permits", 1, 2));
    Claim claim = attemptWithoutAnswer(() -> seam.permits("permits", 2, 2));

    assertThat(Seam.answer(near.setKind("permits", Kind.semaphore(1)))).isTrue();

    assertThat(untilItAnswers(() -> seam.attempt(claim)))
        .isEqualTo(new Standing.OtherKind(Kind.semaphore(1)));
    assertThat(show("permits").waiters()).isEmpty();
  }

  @Test
  void anAttemptForAnotherNumberOfPermitsIsRefusedThoughItsFirstReplyWasLost() {
    other.take(other.permits("permits", 1, 3));
    Claim claim = attemptWithoutAnswer(() -> seam.permits("permits", 1, 2));

    assertThat(untilItAnswers(() -> seam.attempt(claim)))
        .isEqualTo(new Standing.OtherKind(Kind.semaphore(3)));
  }

  private void leaveAShortestHold(String lock, Duration shortest) {
    try (ZooKeeperStore store = Seam.connect("zk://" + server.address() + "?tick=100ms")) {
      Seam gone = new Seam(store);
      Claim lasting = gone.lasting(lock, shortest);
      gone.take(lasting);
      gone.withdraw(lasting);
    }
  }

  /** It tells the service's time by when its node was made, of which it hears much later. */
  @Test
  void p6_someoneGetsIn_aShortestHoldThatWasOverBeforeAWaiterHeardOfItsNodeDelaysItNoMore() {
    leaveAShortestHold("over", Duration.ofSeconds(4));
    Claim claim = attemptWithoutAnswer("over");
    await().until(() -> holds(show("over"), claim));

    untilItAnswers(() -> seam.take(claim));
  }

  @Test
  void aReleaseThatFailedIsRepeatedUntilItsNodeIsSeenGone() {
    Claim claim = seam.claim("release");
    seam.take(claim);
    proxy.blackHole(Direction.TO_SERVER);
    assertThatThrownBy(() -> seam.withdraw(claim)).isInstanceOf(StoreUnavailableException.class);
    assertThat(show("release").holders()).hasSize(1);

    proxy.reset();
    proxy.heal();

    await().until(() -> show("release").holders().isEmpty());
    other.take(other.claim("release"));
  }

  @Test
  void aPartitionLongerThanTheLeaseLetsTheNextInAfterTheLeaseAndNotBefore() {
    Duration lease = Duration.ofSeconds(5); // a stalled machine speaks of it within that
    Claim cut = seam.claim("partition", lease, 1);
    untilItAnswers(() -> seam.take(cut));
    Claim next = other.claim("partition");
    assertThat(other.attempt(next)).isInstanceOf(Standing.Waiting.class);
    long sentAt = System.nanoTime();
    Standing.Held held = (Standing.Held) untilItAnswers(() -> seam.renew(cut));

    proxy.cut();

    await().atMost(Duration.ofSeconds(30)).until(() -> other.renew(next) instanceof Standing.Held);
    Bench.assertKeptFor(lease, sentAt);
    assertThat(((Standing.Held) other.renew(next)).token()).isGreaterThan(held.lastToken());
    proxy.heal();
    assertThat(untilItAnswers(() -> seam.renew(cut))).isEqualTo(Standing.GONE);
    assertThat(other.renew(next)).isInstanceOf(Standing.Held.class);
    untilItAnswers(() -> seam.take(seam.claim("afterwards", SHORT, 1)));
  }

  /** Its attempts to connect reach the server, and would keep its session alive for good. */
  @Test
  void aClientThatIsHeardAndHearsNothingLetsTheNextIn() {
    Claim deaf = seam.claim("deaf", Duration.ofSeconds(4), 1);
    untilItAnswers(() -> seam.take(deaf));
    Claim next = other.claim("deaf");
    assertThat(other.attempt(next)).isInstanceOf(Standing.Waiting.class);

    proxy.blackHole(Direction.TO_CLIENT);

    await().atMost(Duration.ofSeconds(30)).until(() -> other.renew(next) instanceof Standing.Held);
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
    proxy.reset();
    proxy.heal();
    untilItAnswers(() -> seam.withdraw(claim));
    untilItAnswers(() -> seam.withdraw(doubtful.asUnsettled()));
    assertThat(show("hole").holders()).isEmpty();
    other.take(other.claim("hole"));
  }
}
