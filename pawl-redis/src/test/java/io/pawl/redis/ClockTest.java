package io.pawl.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.servers.RedisServer;
import io.pawl.spi.Claim;
import io.pawl.spi.Standing;
import java.time.Duration;
import java.util.List;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The server's clock is set by somebody. */
class ClockTest {

  private static final Duration LEASE = Duration.ofSeconds(30);

  private final RedisServer server = RedisServer.start();
  private long micros = System.currentTimeMillis() * 1000;

  @AfterEach
  void close() {
    server.close();
  }

  private void move(Duration by) {
    micros += by.toMillis() * 1000;
    TestClock.set(server, micros);
  }

  @Test
  void tokensRiseThoughTheClockGoesBackTenMinutesBetweenTwoClients() {
    move(Duration.ZERO);
    long last;
    try (RedisStore one = TestClock.store(server)) {
      Seam seam = new Seam(one);
      Claim claim = seam.claim("back", LEASE, 64);
      last = seam.take(claim).lastToken();
      seam.withdraw(claim);
    }
    move(Duration.ofSeconds(-600));
    try (RedisStore two = TestClock.store(server)) {
      Seam seam = new Seam(two);
      assertThat(seam.take(seam.claim("back")).token()).isGreaterThan(last);
    }
  }

  @Test
  void aStoreRemembersTimeForAServerThatForgotEverything() {
    move(Duration.ZERO);
    try (RedisStore store = TestClock.store(server)) {
      Seam seam = new Seam(store);
      long last = seam.take(seam.claim("forgot", LEASE, 64)).lastToken();
      server.call("FLUSHALL");
      move(Duration.ofSeconds(-600));
      assertThat(seam.take(seam.claim("forgot")).token()).isGreaterThan(last);
    }
  }

  @Test
  void aKeyOutlivesAHoldThatIsRenewedForHoursAndWhoeverWaitsForIt() {
    move(Duration.ZERO);
    try (RedisStore store = TestClock.store(server)) {
      Seam seam = new Seam(store);
      Claim held = seam.claim("long", LEASE, 1);
      seam.take(held);
      for (int i = 0; i < 400; i++) {
        move(LEASE.minusSeconds(1));
        assertThat(seam.renew(held)).isInstanceOf(Standing.Held.class);
      }
      assertOutlives("long");
      Claim waiter = seam.claim("long", Duration.ofHours(1), 1);
      assertThat(seam.attempt(waiter)).isInstanceOf(Standing.Waiting.class);
      micros += Duration.ofHours(1).toMillis() * 1000;
      assertOutlives("long");
    }
  }

  /** By what tokens need, which is ten minutes. */
  private void assertOutlives(String lock) {
    long expires = (Long) server.call("PEXPIRETIME", Keys.of(lock));
    assertThat(expires).isGreaterThanOrEqualTo(micros / 1000 + 600_000);
  }

  @Test
  void aHoldIsNotStretchedByAClockThatGoesBack() {
    move(Duration.ZERO);
    try (RedisStore store = TestClock.store(server)) {
      Seam seam = new Seam(store);
      Claim dead = seam.claim("stretched", LEASE, 1);
      seam.take(dead);
      Claim waiter = seam.claim("stretched", LEASE, 1);
      move(Duration.ofSeconds(-600));
      Standing.Waiting waiting = (Standing.Waiting) seam.attempt(waiter);
      assertThat(waiting.askAgain()).isLessThanOrEqualTo(LEASE);
      move(LEASE.minusSeconds(1));
      assertThat(seam.renew(waiter)).isInstanceOf(Standing.Waiting.class);
      move(Duration.ofSeconds(1));
      assertThat(seam.renew(waiter)).isInstanceOf(Standing.Held.class);
      assertThat(seam.renew(dead)).isEqualTo(Standing.GONE);
    }
  }

  /** All of them together: each would have another lease if it was cut when its turn comes. */
  @Test
  void deadWaitersAreNotStretchedByAClockThatGoesBack() {
    move(Duration.ZERO);
    try (RedisStore store = TestClock.store(server)) {
      dieInLine("line", 5);
      Seam seam = new Seam(store);
      Claim waiter = seam.claim("line", LEASE, 1);
      move(Duration.ofHours(-1));
      assertThat(seam.attempt(waiter)).isInstanceOf(Standing.Waiting.class);
      move(LEASE.minusSeconds(1));
      assertThat(seam.renew(waiter)).isInstanceOf(Standing.Waiting.class);
      move(Duration.ofSeconds(1));
      assertThat(seam.renew(waiter)).isInstanceOf(Standing.Held.class);
    }
  }

  /** The lock is handed on after the step, to the first of those that died before it. */
  @Test
  void deadWaitersAreNotStretchedWhereTheirHolderReleasesAfterTheClockWentBack() {
    assertDeadWaitersEndTogether("released", Seam::withdraw);
  }

  @Test
  void deadWaitersAreNotStretchedWhereTheirHolderRenewsAfterTheClockWentBack() {
    assertDeadWaitersEndTogether(
        "renewed",
        (seam, holder) -> assertThat(seam.renew(holder)).isInstanceOf(Standing.Held.class));
  }

  private void assertDeadWaitersEndTogether(String lock, BiConsumer<Seam, Claim> holderDoes) {
    move(Duration.ZERO);
    try (RedisStore store = TestClock.store(server)) {
      Seam seam = new Seam(store);
      Claim holder = seam.claim(lock, LEASE, 1);
      seam.take(holder);
      dieInLine(lock, 5);
      Claim waiter = seam.claim(lock, LEASE, 1);
      assertThat(seam.attempt(waiter)).isInstanceOf(Standing.Waiting.class);
      move(Duration.ofHours(-1));
      holderDoes.accept(seam, holder);
      move(LEASE.minusSeconds(1));
      assertThat(seam.renew(waiter)).isInstanceOf(Standing.Waiting.class);
      move(Duration.ofSeconds(1));
      seam.withdraw(holder);
      assertThat(seam.renew(waiter)).isInstanceOf(Standing.Held.class);
    }
  }

  /** Claims of a store that is closed then: one that lives asks for its waiters once it listens. */
  private void dieInLine(String lock, int claims) {
    try (RedisStore store = TestClock.store(server)) {
      Seam seam = new Seam(store);
      for (int i = 0; i < claims; i++) {
        seam.attempt(seam.claim(lock, LEASE, 1));
      }
    }
  }

  @Test
  void aClockThatLeapsForwardIsALossSeenAtTheNextRenewal() {
    move(Duration.ZERO);
    try (RedisStore store = TestClock.store(server)) {
      Seam seam = new Seam(store);
      Claim claim = seam.claim("leap", LEASE, 1);
      long first = seam.take(claim).token();
      move(Duration.ofSeconds(120));
      assertThat(seam.renew(claim)).isEqualTo(Standing.GONE);
      assertThat(seam.take(seam.claim("leap")).token()).isGreaterThan(first);
    }
  }

  /** As of a sticky lease, or of threads that pass a lock on: 4,096 at two a microsecond. */
  @Test
  void theTokensOfALongGrantRunAheadOfTimeByTwoMilliseconds() {
    move(Duration.ZERO);
    try (RedisStore store = TestClock.store(server)) {
      Seam seam = new Seam(store);
      Claim claim = seam.claim("many", LEASE, 65_536);
      Standing.Held first = seam.take(claim);
      assertThat(first.token()).isEqualTo(2 * micros);
      assertThat(first.lastToken()).isEqualTo(2 * micros + 4_095);
      seam.withdraw(claim);

      Standing.Held next = seam.take(seam.claim("many", LEASE, 65_536));

      assertThat(next.token()).isEqualTo(first.lastToken() + 1);
      assertThat(next.lastToken()).as("never fewer").isEqualTo(next.token() + 63);
    }
  }

  @Test
  void aTokenFarAheadOfTimeStaysWithItsLock() {
    move(Duration.ZERO);
    try (RedisStore store = TestClock.store(server)) {
      Seam seam = new Seam(store);
      Claim far = seam.claim("far");
      Claim above =
          new Claim(
              "far",
              far.id(),
              far.mode(),
              LEASE,
              Duration.ZERO,
              true,
              1,
              1L << 52,
              false,
              far.holder());
      assertThat(seam.take(above).token()).isGreaterThan(1L << 52);
      assertThat(seam.take(seam.claim("near")).token()).isLessThan(1L << 52);
    }
  }

  /** Until then nobody takes the lock by a short cut. */
  @Test
  void aWithdrawnClaimIsForgottenOnceItsTimeIsOver() {
    move(Duration.ZERO);
    try (RedisStore store = TestClock.store(server)) {
      Seam seam = new Seam(store);
      for (int i = 0; i < 3; i++) {
        seam.withdraw(seam.claim("doubt").asUnsettled());
      }
      assertThat(server.list("HKEYS", Keys.of("doubt"))).hasSize(1 + 3);
      move(Seam.LEASE);
      for (int i = 0; i < 2; i++) {
        Claim claim = seam.claim("doubt");
        seam.take(claim);
        seam.withdraw(claim);
      }
      assertThat(server.list("HKEYS", Keys.of("doubt"))).isEqualTo(List.of("."));
    }
  }

  @Test
  void aClockThatWasSetBackStretchesNoShortestHold() {
    move(Duration.ZERO);
    try (RedisStore store = TestClock.store(server)) {
      Seam seam = new Seam(store);
      Claim job = seam.claim("job").withMinHold(Duration.ofMinutes(5));
      seam.take(job);
      seam.withdraw(job);
      move(Duration.ofHours(-1));
      assertThat(seam.attempt(seam.claim("job")))
          .isEqualTo(new Standing.Waiting(Duration.ofMinutes(5)));
      move(Duration.ofMinutes(5));
      assertThat(seam.take(seam.claim("job"))).isNotNull();
    }
  }
}
