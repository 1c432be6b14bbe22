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
import io.pawl.spi.ClaimId;
import io.pawl.spi.Inspectable.ClaimView;
import io.pawl.spi.Inspectable.LockView;
import io.pawl.spi.Standing;
import io.pawl.spi.StoreUrl;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Claims with a shortest hold whose session ended before they knew of their node, or its end. */
class ShortestHoldTest {

  private static final Duration LEASE = Duration.ofSeconds(3);
  private static final Duration SHORTEST = Duration.ofMillis(500);
  private static final Duration SLOW = Duration.ofMillis(1500);
  private static final int LOCKS = 8;
  private static final int MOST_ROUNDS = 10;

  private final ZooKeeperServer server = ZooKeeperServer.start(ContractServers.OPTIONS);
  private final FaultProxy proxy = FaultProxy.before(server);
  private final FaultProxy slow = FaultProxy.before(server);
  private final ZooKeeperStore store = Seam.connect(url(proxy) + "&timeout=700ms");
  private final ZooKeeperStore another = Seam.connect(url(slow) + "&timeout=20s");
  private final ZooKeeperStore near =
      Seam.connect("zk://" + server.address() + ContractServers.PARAMETERS);
  private final Seam here = new Seam(store);
  private final Seam there = new Seam(another);
  private List<CompletableFuture<Standing>> unanswered = List.of();

  private static String url(FaultProxy proxy) {
    return "zk://" + proxy.host() + ":" + proxy.port() + ContractServers.PARAMETERS;
  }

  @BeforeEach
  void openTheSessions() {
    Claim first = here.claim("warm", LEASE, 1);
    untilItAnswers(() -> here.take(first));
    untilItAnswers(() -> here.withdraw(first));
    Claim second = there.claim("warm");
    there.take(second);
    there.withdraw(second);
  }

  @AfterEach
  void close() {
    proxy.heal();
    slow.heal();
    store.close();
    another.close();
    near.close();
    proxy.close();
    slow.close();
    server.close();
  }

  private LockView show(String lock) {
    return Seam.answer(near.show(lock)).orElseThrow();
  }

  private boolean isStored(String lock) {
    return Seam.answer(near.show(lock)).filter(view -> !view.holders().isEmpty()).isPresent();
  }

  private static List<ClaimId> claims(LockView view) {
    return Stream.concat(view.holders().stream(), view.waiters().stream())
        .map(ClaimView::id)
        .toList();
  }

  /** Attempts that are carried out and that nobody hears of; a stall may keep them from both. */
  private List<Claim> attemptWithoutAnswer(int count) {
    for (int round = 0; round < MOST_ROUNDS; round++) {
      String prefix = "lock" + round + "-";
      List<Claim> claims =
          IntStream.range(0, count)
              .mapToObj(i -> here.claim(prefix + i, LEASE, 1).withMinHold(SHORTEST))
              .toList();
      proxy.blackHole(Direction.TO_CLIENT);
      List<CompletableFuture<Standing>> answers =
          claims.stream()
              .map(each -> store.attempt(each, standing -> {}).toCompletableFuture())
              .toList();
      List<Claim> missing = new ArrayList<>(claims);
      while (!missing.isEmpty() && !answers.stream().allMatch(CompletableFuture::isDone)) {
        missing.removeIf(each -> isStored(each.lock()));
      }
      if (missing.isEmpty()) {
        unanswered = answers;
        return claims;
      }
      heal();
      openTheSessions();
    }
    throw new AssertionError("no attempt arrived");
  }

  /** Nor does the service hear of the client any more, whose attempts to connect are heard too. */
  private void assertNobodyHeard() {
    proxy.blackHole(Direction.TO_SERVER);
    for (CompletableFuture<Standing> answer : unanswered) {
      assertThatThrownBy(() -> Seam.answer(answer)).isInstanceOf(StoreUnavailableException.class);
    }
  }

  private void heal() {
    proxy.reset();
    proxy.heal();
  }

  @Test
  void aClaimThatComesBackInANewSessionHoldsByItsNewNodeAlone() {
    Claim claim = attemptWithoutAnswer(1).get(0);
    assertNobodyHeard();
    await().until(() -> !isStored(claim.lock()));
    heal();

    Standing.Held held = untilItAnswers(() -> here.take(claim));

    LockView view = show(claim.lock());
    assertThat(view.holders()).extracting(ClaimView::id).containsExactly(claim.id());
    assertThat(view.holders()).extracting(ClaimView::token).containsExactly(held.token());
    assertThat(view.waiters()).isEmpty();
    untilItAnswers(() -> here.withdraw(claim));
    Claim next = there.claim(claim.lock());
    there.attempt(next);
    await().until(() -> there.renew(next) instanceof Standing.Held);
  }

  /** A sign with the claim's id alone brought the older node to life, before those behind it. */
  @Test
  void p1_oneHolder_aClaimThatComesBackInANewSessionStandsBehindWhoeverWaited() {
    List<Claim> claims = attemptWithoutAnswer(LOCKS);
    Map<Claim, Claim> waiters = new HashMap<>();
    for (Claim each : claims) {
      Claim waiter = there.claim(each.lock());
      assertThat(there.attempt(waiter)).isInstanceOf(Standing.Waiting.class);
      waiters.put(each, waiter);
    }
    slow.delay(Direction.TO_SERVER, SLOW);
    assertNobodyHeard();
    for (Claim each : claims) {
      await().until(() -> !claims(show(each.lock())).contains(each.id()));
    }
    heal();

    untilAll(claims, Standing.Waiting.class);
    for (Claim each : claims) {
      assertThat(claims(show(each.lock())))
          .startsWith(waiters.get(each).id())
          .doesNotHaveDuplicates();
    }
    slow.heal();
    Map<Claim, Standing.Held> first = new HashMap<>();
    for (Claim each : claims) {
      Claim waiter = waiters.get(each);
      await()
          .until(
              () -> {
                untilAll(claims, Standing.Waiting.class);
                return there.renew(waiter) instanceof Standing.Held;
              });
      first.put(each, (Standing.Held) there.renew(waiter));
    }
    untilAll(claims, Standing.Waiting.class);
    waiters.values().forEach(there::withdraw);
    for (Claim each : claims) {
      await().until(() -> untilItAnswers(() -> here.attempt(each)) instanceof Standing.Held);
      Standing.Held second = (Standing.Held) untilItAnswers(() -> here.attempt(each));
      assertThat(second.token()).isGreaterThan(first.get(each).lastToken());
      untilItAnswers(() -> here.withdraw(each));
    }
  }

  @Test
  void p6_someoneGetsIn_aHoldUnderWhichNobodyWorkedEndsThoughItsSessionEndsFirst() {
    Claim claim = here.claim("unused", LEASE, 1).withMinHold(Duration.ofHours(1));
    untilItAnswers(() -> here.take(claim));
    proxy.blackHole(Direction.TO_SERVER);
    assertThatThrownBy(() -> here.withdraw(claim.withMinHold(Duration.ZERO)))
        .isInstanceOf(StoreUnavailableException.class);
    await().atMost(Duration.ofSeconds(30)).until(() -> standsForItsShortestHold("unused"));

    heal();

    await().until(() -> !isStored("unused"));
  }

  @Test
  void p6_someoneGetsIn_aHoldUnderWhichNobodyWorkedEndsThoughItsClientHeardOfItsLossFirst() {
    Claim claim = here.claim("lost", LEASE, 1).withMinHold(Duration.ofHours(1));
    untilItAnswers(() -> here.take(claim));
    endTheSession();
    assertThat(here.renew(claim)).isEqualTo(Standing.GONE);
    assertThat(standsForItsShortestHold("lost")).isTrue();

    untilItAnswers(() -> here.withdraw(claim.withMinHold(Duration.ZERO)));

    await().until(() -> !isStored("lost"));
  }

  @Test
  void aHoldWhoseClientHeardOfItsLossStandsForItsShortestHoldAndNoLonger() {
    Duration shortest = Duration.ofSeconds(12);
    Claim claim = here.claim("worked", LEASE, 1).withMinHold(shortest);
    long since = System.nanoTime();
    untilItAnswers(() -> here.take(claim));
    endTheSession();
    here.withdraw(claim);

    await().atMost(Duration.ofSeconds(30)).until(() -> !isStored("worked"));

    assertThat(Duration.ofNanos(System.nanoTime() - since)).isGreaterThan(shortest);
  }

  /** The answer may come while the connection is being given up. */
  @Test
  void p1_oneHolder_aGrantThatIsNotedAsItsSessionEndsIsNone() throws Exception {
    Settings settings =
        Settings.parse(StoreUrl.parse("zk://" + slow.host() + ":" + slow.port() + "?tick=2s"));
    try (Clock clock = new Clock()) {
      QueuedClaims claims = new QueuedClaims(settings, clock, new Failures(settings.shown()));
      Claim claim = here.claim("noted", LEASE, 1).withMinHold(Duration.ofHours(1));
      Session session = claims.sessions().of(claim.leaseMillis());
      CompletableFuture<Void> open = new CompletableFuture<>();
      session.admit(() -> open.complete(null), open::completeExceptionally);
      Seam.answer(open);
      slow.delay(Direction.TO_CLIENT, SLOW);
      CompletableFuture<Standing> answer = claims.attempt(claim, standing -> {});
      await().until(() -> isNoted("noted"));

      session.close();

      assertThat(answer)
          .failsWithin(Duration.ofSeconds(30))
          .withThrowableThat()
          .withCauseInstanceOf(KeeperException.SessionExpiredException.class);
      assertThat(Seam.answer(claims.attempt(claim, standing -> {}))).isEqualTo(Standing.GONE);
      slow.heal();
      claims.close();
    }
  }

  private boolean isNoted(String lock) throws Exception {
    try (ZooKeeper client = new ZooKeeper(server.address(), 10_000, event -> {})) {
      String path = "/pawl/locks/" + lock;
      for (String name : client.getChildren(path, false)) {
        byte[] data = client.getData(path + "/" + name, false, null);
        if (new String(data, StandardCharsets.UTF_8).contains("granted=true")) {
          return true;
        }
      }
      return false;
    } catch (KeeperException.NoNodeException e) {
      return false;
    }
  }

  /** Of the claims with this lease, and their client knows it: it opens another for the next. */
  private void endTheSession() {
    untilItAnswers(() -> here.take(here.claim("canary", LEASE, 1)));
    proxy.blackHole(Direction.TO_SERVER);
    await().atMost(Duration.ofSeconds(30)).until(() -> !isStored("canary"));
    heal();
    Claim next = here.claim("canary", LEASE, 1);
    untilItAnswers(() -> here.take(next));
    untilItAnswers(() -> here.withdraw(next));
  }

  private boolean standsForItsShortestHold(String lock) {
    Instant longAfterItsLease = Instant.now().plus(Duration.ofMinutes(30));
    return show(lock).holders().stream().anyMatch(each -> each.until().isAfter(longAfterItsLease));
  }

  /** Asks for all until all stand so; one that a stall let go takes a new place. */
  private void untilAll(List<Claim> claims, Class<? extends Standing> expected) {
    await()
        .atMost(Duration.ofSeconds(30))
        .until(
            () -> {
              boolean all = true;
              for (Claim each : claims) {
                Standing standing = untilItAnswers(() -> here.attempt(each));
                assertThat(standing).isInstanceOfAny(expected, Standing.Gone.class);
                all &= expected.isInstance(standing);
              }
              return all;
            });
  }
}
