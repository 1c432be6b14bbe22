package io.pawl.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.pawl.error.StoreConfigurationException;
import io.pawl.servers.ZooKeeperServer;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Standing;
import io.pawl.spi.StoreUrl;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Sessions are closed when nobody uses them, and never under a claim. */
class SessionUsersTest {

  private static final int THREADS = 8;
  private static final int GRANTS = 800;
  private static final int ROUNDS = 20;
  private static final int CLAIMS = 50;
  private static final int LENGTHS = Sessions.MOST + THREADS;
  private static final long SHORTEST_MILLIS = 60_000;

  private static ZooKeeperServer server;

  @BeforeAll
  static void start() {
    server = ZooKeeperServer.start(ContractServers.OPTIONS);
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  private static String url() {
    return "zk://" + server.address() + ContractServers.PARAMETERS;
  }

  @Test
  void p1_oneHolder_aSessionIsNotClosedUnderAClaimThatIsBeingMade() {
    try (Clock clock = new Clock()) {
      Sessions sessions = new Sessions(Settings.parse(StoreUrl.parse(url())), clock, session -> {});
      Session used = sessions.of(SHORTEST_MILLIS);

      for (int i = 1; i <= LENGTHS; i++) {
        sessions.of(SHORTEST_MILLIS + i).leave();
      }

      assertThat(used.isEnded()).isFalse();
      assertThat(sessions.of(SHORTEST_MILLIS)).isSameAs(used);
      sessions.close();
    }
  }

  @Test
  void aSessionThatIsAboutToBeClosedIsGivenToNobody() {
    try (Clock clock = new Clock()) {
      Sessions sessions = new Sessions(Settings.parse(StoreUrl.parse(url())), clock, session -> {});
      Session first = sessions.of(SHORTEST_MILLIS);
      assertThat(first.retire()).isFalse();
      first.leave();
      assertThat(first.retire()).isTrue();

      assertThat(first.enter()).isFalse();
      assertThat(sessions.of(SHORTEST_MILLIS)).isNotSameAs(first);
      first.close();
      sessions.close();
    }
  }

  @Test
  void moreLengthsOfLeaseThanThereMayBeSessionsAreRefusedWhileAllAreHeld() {
    try (ZooKeeperStore store = ZooKeeperStore.connect(url())) {
      Seam seam = new Seam(store);
      List<Claim> held = new ArrayList<>();
      for (int i = 0; i < Sessions.MOST; i++) {
        held.add(seam.claim("each" + i, Duration.ofMillis(SHORTEST_MILLIS + i), 1));
        seam.take(held.get(i));
      }
      Claim more = seam.claim("more", Duration.ofMillis(SHORTEST_MILLIS - 1), 1);

      assertThatThrownBy(() -> seam.attempt(more)).isInstanceOf(StoreConfigurationException.class);

      seam.withdraw(held.get(0));
      seam.take(more);
      for (Claim each : held.subList(1, held.size())) {
        assertThat(seam.renew(each)).isInstanceOf(Standing.Held.class);
      }
    }
  }

  /**
   * Answers to requests that were made before come after the end of the session. A kept claim that
   * was granted would stand for its shortest hold, so these wait behind somebody else's.
   */
  @Test
  void claimsWhoseSessionHasEndedNeitherHoldNorStayInMemory() {
    try (Clock clock = new Clock();
        ZooKeeperStore store = ZooKeeperStore.connect(url())) {
      Seam others = new Seam(store);
      for (int i = 0; i < CLAIMS; i += 2) {
        others.take(others.claim("kept" + i));
      }
      Settings settings = Settings.parse(StoreUrl.parse(url()));
      QueuedClaims claims = new QueuedClaims(settings, clock, new Failures(settings.shown()));
      for (int round = 0; round < ROUNDS; round++) {
        Seam seam = new Seam(null);
        Session session = claims.sessions().of(Seam.LEASE.toMillis());
        Seam.answer(claims.attempt(seam.claim("open" + round), bell -> {}));
        List<Claim> made = new ArrayList<>();
        List<CompletableFuture<Standing>> answers = new ArrayList<>();
        for (int i = 0; i < CLAIMS; i++) {
          made.add(
              i % 2 == 0
                  ? seam.lasting("kept" + i, Duration.ofMinutes(1))
                  : seam.claim("round" + round + "-" + i));
          answers.add(claims.attempt(made.get(i), bell -> {}));
        }

        session.close();

        answers.forEach(each -> each.handle((standing, error) -> true).join());
        Map<ClaimId, Standing> renewed = Seam.answer(claims.renew(made));
        assertThat(renewed.values()).allMatch(Standing.GONE::equals);
        await().untilAsserted(() -> assertThat(claims.size()).isZero());
      }
      claims.close();
    }
  }

  /** Sessions come and go all the time: each grant has to stand when it is told. */
  @Test
  void p1_oneHolder_whatIsGrantedStandsHoweverManyLengthsOfLeaseTakeTurns() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    try (Clock clock = new Clock()) {
      Settings settings = Settings.parse(StoreUrl.parse(url()));
      QueuedClaims claims = new QueuedClaims(settings, clock, new Failures(settings.shown()));
      AtomicInteger turns = new AtomicInteger();
      List<Callable<Integer>> bodies = new ArrayList<>();
      for (int i = 0; i < THREADS; i++) {
        bodies.add(() -> lostGrants(claims, turns));
      }
      int lost = 0;
      for (Future<Integer> each : threads.invokeAll(bodies)) {
        lost += each.get();
      }

      assertThat(lost).isZero();
      await().untilAsserted(() -> assertThat(claims.size()).isZero());
      claims.close();
    } finally {
      threads.shutdownNow();
    }
  }

  private static int lostGrants(QueuedClaims claims, AtomicInteger turns) {
    Seam seam = new Seam(null);
    int lost = 0;
    for (int turn = turns.getAndIncrement(); turn < GRANTS; turn = turns.getAndIncrement()) {
      Duration lease = Duration.ofMillis(SHORTEST_MILLIS + turn % LENGTHS);
      Claim claim = seam.claim("turn" + turn, lease, 1);
      Standing standing = Seam.answer(claims.attempt(claim, bell -> {}));
      assertThat(standing).isInstanceOf(Standing.Held.class);
      Standing now = Seam.answer(claims.renew(List.of(claim))).get(claim.id());
      lost += now instanceof Standing.Held ? 0 : 1;
      Seam.answer(claims.withdraw(claim));
    }
    return lost;
  }
}
