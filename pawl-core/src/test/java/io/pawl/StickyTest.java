package io.pawl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.engine.QueueKey;
import io.pawl.engine.Requests;
import io.pawl.memory.MemoryStore;
import io.pawl.options.LockObserver;
import io.pawl.options.LockOptions;
import io.pawl.options.PawlOptions;
import io.pawl.spi.Claim;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A client that keeps the store's hold after a release, under a clock and a store of the test's.
 */
class StickyTest {

  private static final Duration KEPT = Duration.ofMillis(500);
  private static final LockOptions STICKY = LockOptions.defaults().sticky(KEPT);

  private final ScriptedClient client = new ScriptedClient(PawlOptions.defaults());
  private final ScriptedStore store = client.store();

  private Lease acquire() {
    return granted(ask());
  }

  private static Requests requests(ScriptedClient of, LockOptions options) {
    return new Requests(of.engine(), new QueueKey("lock", options, Mode.EXCLUSIVE));
  }

  private static Lease grantedAsking(ScriptedClient of, Requests requests, long token) {
    of.store().answers.add(CompletableFuture.completedFuture(new Standing.Held(token, 1_000)));
    CompletableFuture<Optional<Lease>> asked =
        requests.tryAcquireAsync(Duration.ZERO, loan -> loan.map(Lease::new));
    of.pass(Duration.ZERO);
    return asked.join().orElseThrow();
  }

  private Lease granted(CompletableFuture<Optional<Lease>> asked) {
    client.pass(Duration.ZERO);
    assertThat(asked).isCompleted();
    return asked.join().orElseThrow();
  }

  private CompletableFuture<Optional<Lease>> ask() {
    return ask(requests(client, STICKY));
  }

  private static CompletableFuture<Optional<Lease>> ask(Requests requests) {
    return requests.tryAcquireAsync(Duration.ofDays(1), loan -> loan.map(Lease::new));
  }

  private Lease acquireAsking(long token, long lastToken) {
    store.answers.add(CompletableFuture.completedFuture(new Standing.Held(token, lastToken)));
    return acquire();
  }

  private void close(Lease lease) {
    assertThat(lease.closeAsync()).isCompleted();
  }

  @Test
  void whoComesBackInTimeAsksNoStoreAndHasATokenOfHisOwn() {
    close(acquireAsking(7, 100));
    client.pass(KEPT.minusMillis(1));

    Lease again = acquire();

    assertThat(again.token()).isEqualTo(8);
    assertThat(again.isValid()).isTrue();
    assertThat(store.attempts).hasSize(1);
    assertThat(store.attempt(0).claim().tokens()).as("for many returns").isGreaterThan(1_000);
    assertThat(store.withdrawals).isEmpty();
  }

  @Test
  void aHoldThatNobodyComesBackToEndsWithItsTime() {
    close(acquireAsking(7, 100));

    client.pass(KEPT.minusMillis(1));
    assertThat(store.withdrawals).isEmpty();
    client.pass(Duration.ofMillis(1));

    assertThat(store.withdrawals).hasSize(1);
    assertThat(client.engine().isIdle()).isTrue();
  }

  @Test
  void aHoldThatNobodyHasIsNoLeaseWhoseRenewalIsLate() {
    Lease lease = acquireAsking(7, 100);
    client.pass(Duration.ofMillis(100));
    assertThat(client.engine().oldestRenewal()).isNotNull();

    close(lease);
    client.pass(Duration.ofMillis(100));

    assertThat(store.withdrawals).isEmpty();
    assertThat(client.engine().oldestRenewal()).isNull();
  }

  @Test
  void comingBackAgainAndAgainMakesTheTimeNoLonger() {
    close(acquireAsking(7, 100));
    for (int i = 0; i < 4; i++) {
      client.pass(Duration.ofMillis(100));
      close(acquire());
    }
    assertThat(store.withdrawals).isEmpty();

    client.pass(Duration.ofMillis(100));

    assertThat(store.withdrawals).hasSize(1);
  }

  @Test
  void aLeaseThatOutlivesTheTimeIsTheLastOfItsHold() {
    close(acquireAsking(7, 100));
    Lease again = acquire();
    client.pass(KEPT);
    assertThat(again.isValid()).isTrue();
    assertThat(store.withdrawals).isEmpty();

    close(again);

    assertThat(store.withdrawals).hasSize(1);
  }

  /** Though a run would last for longer, and somebody of this client waits. */
  @Test
  void aLeaseThatOutlivesAShortTimeIsTheLastOfItsHoldToo() {
    Duration kept = Duration.ofMillis(5);
    Requests requests =
        requests(client, STICKY.localPassing(1_000, Duration.ofSeconds(1)).sticky(kept));
    close(grantedAsking(client, requests, 7));
    Lease again = granted(ask(requests));
    client.pass(kept);
    CompletableFuture<Optional<Lease>> next = ask(requests);
    assertThat(store.attempts).hasSize(1);

    close(again);

    assertThat(store.withdrawals).hasSize(1);
    assertThat(store.attempts).hasSize(2);
    assertThat(next).isNotDone();
  }

  @Test
  void aLongLeaseLeavesAllOfTheTime() {
    Lease first = acquireAsking(7, 100);
    client.pass(Duration.ofSeconds(5));
    close(first);

    client.pass(KEPT.minusMillis(1));

    assertThat(acquire().token()).isEqualTo(8);
  }

  @Test
  void tokensThatAreUsedUpAreFollowedByMoreAndLargerWishes() {
    Lease lease = acquireAsking(7, 7);
    close(lease);
    assertThat(store.withdrawals).as("its owner pays for it when he comes back").isEmpty();

    Lease next = acquireAsking(8, 100);

    assertThat(next.token()).isEqualTo(8);
    assertThat(store.withdrawals).hasSize(1);
    Claim second = store.attempt(1).claim();
    assertThat(second.tokens()).isGreaterThan(store.attempt(0).claim().tokens());
  }

  @Test
  void theWishForTokensGrowsEightTimesEachTimeToItsBound() {
    for (int token = 7; token < 11; token++) {
      close(acquireAsking(token, token));
    }
    assertThat(store.attempts)
        .extracting(attempt -> attempt.claim().tokens())
        .containsExactly(1_024, 8_192, 65_536, 65_536);
  }

  /** A sixth of its validity: too little to work under. */
  @Test
  void aHoldOfWhichLittleIsLeftIsNotKept() {
    Duration lease = Duration.ofSeconds(30);
    for (int left : new int[] {6, 4}) {
      int before = store.withdrawals.size();
      Requests requests =
          new Requests(
              client.engine(), new QueueKey("left " + left, STICKY.lease(lease), Mode.EXCLUSIVE));
      Lease held = grantedAsking(client, requests, 7);
      client.pass(lease.minusSeconds(left)); // no renewal is answered

      close(held);

      assertThat(store.withdrawals).as("%s s left", left).hasSize(before + (left == 4 ? 1 : 0));
      client.pass(KEPT);
    }
  }

  @Test
  void whatIsUsedUpEndsWithItsTimeToo() {
    close(acquireAsking(7, 7));

    client.pass(KEPT);

    assertThat(store.withdrawals).hasSize(1);
    assertThat(client.engine().isIdle()).isTrue();
  }

  @Test
  void aHoldLostWhileNobodyHasItIsNobodysLossAndTheNextAsksAnew() {
    List<String> lost = new ArrayList<>();
    LockObserver observer =
        new LockObserver() {
          @Override
          public void lost(String lock, long token, String why) {
            lost.add(why);
          }
        };
    ScriptedClient watched = new ScriptedClient(PawlOptions.defaults().observer(observer));
    Requests requests = requests(watched, STICKY.lease(Duration.ofMillis(100)));
    Lease before = grantedAsking(watched, requests, 7);
    before.onLost(() -> lost.add("a lease that was closed in time"));
    close(before);
    watched.pass(Duration.ofMillis(200)); // no renewal is answered

    Lease after = grantedAsking(watched, requests, 200);

    assertThat(after.token()).isEqualTo(200);
    assertThat(after.isValid()).isTrue();
    assertThat(watched.store().attempts).hasSize(2);
    assertThat(lost).isEmpty();
  }

  @Test
  void aKeptHoldIsRenewedLikeAnyOther() {
    Requests requests = requests(client, STICKY.lease(Duration.ofMillis(300)));
    close(grantedAsking(client, requests, 7));
    for (int i = 0; i < 4; i++) {
      client.pass(Duration.ofMillis(100));
      store.answerRenewals(claim -> new Standing.Held(7, 1_000));
    }

    Lease again = granted(requests.tryAcquireAsync(Duration.ZERO, loan -> loan.map(Lease::new)));

    assertThat(store.renewals).isNotEmpty();
    assertThat(again.token()).isEqualTo(8);
    assertThat(again.remaining()).isPositive();
  }

  @Test
  void closingTheClientGivesAKeptHoldBackAtOnce() {
    close(acquireAsking(7, 100));

    CompletableFuture<Void> returned = client.engine().lifecycle().beginClosing();

    assertThat(returned).isCompleted();
    assertThat(store.withdrawals).hasSize(1);
  }

  @Test
  void whatIsClosedDuringTheEndOfTheClientIsNotKept() {
    Lease lease = acquireAsking(7, 100);
    client.engine().lifecycle().beginClosing();

    close(lease);

    assertThat(store.withdrawals).hasSize(1);
  }

  @Test
  void aGrantThatNobodyWantedIsNotKept() {
    CompletableFuture<Optional<Lease>> asked = ask();
    store.attempt(0).answer().complete(new Standing.Held(7, 100));
    granted(asked).loan().drop();

    assertThat(store.withdrawals).hasSize(1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"PT-0.001S", "PT1.001S"})
  void timesOutsideTheBoundsAreRefused(String length) {
    assertThatThrownBy(() -> STICKY.sticky(Duration.parse(length)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("0 and 1 s");
  }

  static Stream<Runnable> refused() {
    Pawl pawl = Pawl.over(new MemoryStore(), PawlOptions.defaults().releaseAtShutdown(false));
    return Stream.of(
        STICKY::strictOrder,
        () -> STICKY.minHold(Duration.ofSeconds(1)),
        () -> STICKY.renewal(false),
        () -> pawl.job("job", STICKY),
        () -> pawl.election("election", STICKY),
        () -> pawl.readWriteLock("lock", STICKY),
        () -> pawl.semaphore("semaphore", 2, STICKY),
        () -> pawl.lockAll(List.of("a", "b"), STICKY));
  }

  @ParameterizedTest
  @MethodSource
  void refused(Runnable what) {
    assertThatThrownBy(what::run)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("sticky: PT0.5S");
  }
}
