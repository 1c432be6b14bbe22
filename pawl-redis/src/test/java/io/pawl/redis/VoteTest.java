package io.pawl.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.pawl.error.StoreUnavailableException;
import io.pawl.servers.RedisServer;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Holder;
import io.pawl.spi.Mode;
import io.pawl.spi.QuorumNode.Incarnation;
import io.pawl.spi.Standing;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A server that is a node of a quorum. */
class VoteTest {

  private static final long AN_HOUR = 3_600_000_000L * RedisStore.TOKENS_PER_MICROSECOND;
  private static final AtomicLong numbers = new AtomicLong();

  private final RedisServer server = RedisServer.start();
  private final RedisStore store = RedisStore.connect(server.url() + "?timeout=10s");

  @BeforeEach
  void join() {
    store.joinQuorum(Duration.ofSeconds(60));
  }

  @AfterEach
  void close() {
    store.close();
    server.close();
  }

  private static Claim claim(long floor, long number) {
    return claim("voted", floor, number);
  }

  private static Claim claim(String lock, long floor, long number) {
    return new Claim(
        lock,
        new ClaimId("vote", number),
        Mode.EXCLUSIVE,
        Duration.ofSeconds(30),
        Duration.ZERO,
        true,
        4,
        floor,
        false,
        new Holder("host", 1, "thread", "", ""));
  }

  private static <T> T answer(CompletionStage<T> stage) {
    try {
      return stage.toCompletableFuture().get(20, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RuntimeException cause) {
        throw cause;
      }
      throw new AssertionError(e);
    } catch (InterruptedException | TimeoutException e) {
      throw new AssertionError(e);
    }
  }

  private Standing attempt(Claim claim) {
    return answer(store.attempt(claim, standing -> {}));
  }

  private void assertDoesNotVote() {
    assertThatThrownBy(() -> attempt(claim(0, numbers.incrementAndGet())))
        .isInstanceOfSatisfying(
            StoreUnavailableException.class, refused -> assertThat(refused.isUnsent()).isTrue())
        .hasMessageContaining("votes again in");
  }

  @Test
  void aServerThatMayHaveForgottenDoesNotVote() {
    assertDoesNotVote();
    answer(store.trust());
    assertThat(attempt(claim(0, 1_000))).isInstanceOf(Standing.Held.class);

    server.call("FLUSHALL");

    assertDoesNotVote();
    Incarnation incarnation = answer(store.incarnation());
    assertThat(incarnation.votesIn()).isBetween(Duration.ofSeconds(1), Duration.ofSeconds(60));
  }

  @Test
  void aServerThatRestoredAFileDoesNotVote() {
    answer(store.trust());
    String before = answer(store.incarnation()).server();
    server.call("HSET", "pawl:quorum", "run", "another");

    assertDoesNotVote();
    assertThat(answer(store.incarnation()).server()).isEqualTo(before);
  }

  @Test
  void aHeldClaimThatAsksAboveItsTokensGetsLargerOnes() {
    answer(store.trust());
    Standing.Held held = (Standing.Held) attempt(claim(0, 2_000));
    assertThat(attempt(claim(0, 2_000))).isEqualTo(held);

    long floor = held.lastToken() + 1_000_000_000L;
    Standing.Held raised = (Standing.Held) attempt(claim(floor, 2_000));

    assertThat(raised).isEqualTo(new Standing.Held(floor + 1, floor + 4));
    assertThat(attempt(claim(floor, 2_000))).isEqualTo(raised);
    answer(store.withdraw(claim(0, 2_000)));
    Standing.Held next = (Standing.Held) attempt(claim(0, 2_001));
    assertThat(next.token()).isGreaterThan(raised.lastToken());
  }

  @Test
  void p2_tokensOnlyGrow_aServerThatForgotThemVotesAboveWhatItIsTold() {
    store.joinQuorum(Duration.ofSeconds(1));
    answer(store.trust());
    Incarnation before = answer(store.incarnation());
    server.call("FLUSHALL");
    await().until(() -> answer(store.incarnation()).votesIn().isZero());
    assertThatThrownBy(() -> attempt(claim(0, 3_000)))
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining("majority of the other nodes");
    Incarnation forgetful = answer(store.incarnation());
    assertThat(before.raised()).isTrue();
    assertThat(forgetful.raised()).isFalse();

    answer(store.raise(before, forgetful.highest()));
    assertThat(answer(store.incarnation()).raised()).as("what was known is over").isFalse();
    answer(store.raise(forgetful, forgetful.highest()));

    Standing.Held held = (Standing.Held) attempt(claim(0, 3_001));
    assertThat(held.token()).isGreaterThan(forgetful.highest());
  }

  /** A key that expires: its tokens were those of a node whose clock is ahead. */
  @Test
  void p2_tokensOnlyGrow_thoughTheKeyOfALockIsGoneWhoseTokensWereAheadOfTheClock() {
    answer(store.trust());
    long floor = answer(store.incarnation()).highest() + AN_HOUR;
    Standing.Held held = (Standing.Held) attempt(claim(floor, 4_000));
    assertThat(held.token()).isEqualTo(floor + 1);
    assertThat(answer(store.incarnation()).highest()).isGreaterThanOrEqualTo(held.lastToken());

    server.call("DEL", "pawl:lock:voted");

    Standing.Held next = (Standing.Held) attempt(claim(0, 4_001));
    assertThat(next.token()).isGreaterThan(held.lastToken());
  }

  @Test
  void locksThatItDoesNotKnowDoNotRunAwayWithItsTokens() {
    answer(store.trust());
    attempt(claim(answer(store.incarnation()).highest() + AN_HOUR, 5_000));
    long before = answer(store.incarnation()).highest();

    for (int name = 0; name < 100; name++) {
      attempt(claim("voted-" + name, 0, 5_001 + name));
    }

    long halfAMinute = AN_HOUR / 120;
    assertThat(answer(store.incarnation()).highest() - before).isLessThan(halfAMinute);
  }

  /** It may come from a file that is older than what was told. Returns what it is raised to. */
  private long restoredAndRaised() {
    server.call("HSET", "pawl:quorum", "run", "another");
    await().until(() -> answer(store.incarnation()).votesIn().isZero());
    Incarnation forgetful = answer(store.incarnation());
    long above = forgetful.highest() + AN_HOUR;
    answer(store.raise(forgetful, above));
    return above;
  }

  @Test
  void aHoldKeepsTheTokensThatItWasTold_thoughTheServerIsRaised() {
    store.joinQuorum(Duration.ofSeconds(1));
    answer(store.trust());
    Standing held = attempt(claim(0, 6_000));

    long above = restoredAndRaised();

    assertThat(attempt(claim(0, 6_000))).isEqualTo(held);
    answer(store.withdraw(claim(0, 6_000)));
    Standing.Held next = (Standing.Held) attempt(claim(0, 6_001));
    assertThat(next.token()).isGreaterThan(above);
    answer(store.raise(answer(store.incarnation()), next.lastToken() + AN_HOUR));
    assertThat(attempt(claim(0, 6_001))).as("raised again").isEqualTo(next);
  }

  @Test
  void p2_tokensOnlyGrow_aHoldWhoseTokensNoAttemptHasToldGoesOnAboveWhatItsServerIsToldOf() {
    store.joinQuorum(Duration.ofSeconds(1));
    answer(store.trust());
    attempt(claim(0, 7_000));
    assertThat(attempt(claim(0, 7_001))).isInstanceOf(Standing.Waiting.class);
    answer(store.withdraw(claim(0, 7_000)));

    long above = restoredAndRaised();

    assertThat(((Standing.Held) attempt(claim(0, 7_001))).token()).isGreaterThan(above);
  }
}
