package io.pawl.quorum;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.error.StoreUnavailableException;
import io.pawl.options.LockOptions;
import io.pawl.servers.FaultProxy;
import io.pawl.servers.FaultProxy.AfterDrop;
import io.pawl.servers.RedisServer;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Holder;
import io.pawl.spi.Inspectable;
import io.pawl.spi.LockStore;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import io.pawl.spi.StoreUrl;
import io.pawl.spi.Stores;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Nodes, replies and connections that are lost, on three real servers. */
class QuorumFaultsTest {

  private static final Duration LEASE = Duration.ofSeconds(20);
  private static final AtomicLong numbers = new AtomicLong();

  private final RedisNodes nodes =
      new RedisNodes(
          3, "longestLease=20s&nodeTimeout=2s", () -> RedisServer.setup().movableClock().start());
  private final List<AutoCloseable> opened = new ArrayList<>();

  @AfterEach
  void close() throws Exception {
    for (int i = opened.size() - 1; i >= 0; i--) {
      opened.get(i).close();
    }
    nodes.close();
  }

  private <T extends AutoCloseable> T keep(T closeable) {
    opened.add(closeable);
    return closeable;
  }

  private QuorumStore client() {
    return keep(nodes.open());
  }

  private static Claim claim(String lock, boolean queues) {
    return new Claim(
        lock,
        new ClaimId("faults", numbers.incrementAndGet()),
        Mode.EXCLUSIVE,
        LEASE,
        Duration.ZERO,
        queues,
        1,
        0,
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

  private static Standing attempt(QuorumStore client, Claim claim) {
    return answer(client.attempt(claim, standing -> {}));
  }

  private static Standing.Held take(QuorumStore client, Claim claim) {
    Standing standing = attempt(client, claim);
    assertThat(standing).isInstanceOf(Standing.Held.class);
    return (Standing.Held) standing;
  }

  private static Standing renew(QuorumStore client, Claim claim) {
    return answer(client.renew(List.of(claim))).getOrDefault(claim.id(), Standing.GONE);
  }

  private boolean isHeldAt(int number, String lock) {
    return isHeldAt(nodes.server(number), lock);
  }

  /** Whether {@code server} has somebody hold the lock, asked without the quorum. */
  private static boolean isHeldAt(RedisServer server, String lock) {
    try (LockStore node = Stores.open(StoreUrl.parse(server.url()))) {
      return answer(((Inspectable) node).show(lock))
          .map(view -> !view.holders().isEmpty())
          .orElse(false);
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void p1_oneHolder_theDeathOfAMinorityChangesNothing() throws Exception {
    Pawl here = keep(Pawl.connect(nodes.url()));
    Pawl there = keep(Pawl.connect(nodes.url()));
    LockOptions options = LockOptions.defaults().lease(Duration.ofSeconds(2));
    Lease lease = here.lock("minority", options).acquire();

    nodes.server(1).kill();

    assertThat(there.lock("minority", options).tryAcquire()).isEmpty();
    long start = System.nanoTime();
    await().until(() -> System.nanoTime() - start > 4_000_000_000L);
    assertThat(lease.isValid()).isTrue();
    long token = lease.token();
    lease.close();
    try (Lease next = there.lock("minority", options).acquire()) {
      assertThat(next.token()).isGreaterThan(token);
    }
  }

  @Test
  void theDeathOfAMajorityIsAnErrorInBoundedTime() {
    QuorumStore client = client();
    Claim held = claim("majority", true);
    take(client, held);

    nodes.server(0).kill();
    nodes.server(2).kill();

    assertThatThrownBy(() -> attempt(client, claim("other", true)))
        .isInstanceOf(StoreUnavailableException.class);
    assertThatThrownBy(() -> renew(client, held)).isInstanceOf(StoreUnavailableException.class);
    assertThatThrownBy(() -> answer(client.withdraw(held)))
        .isInstanceOf(StoreUnavailableException.class);
  }

  @Test
  void aNodeThatStandsStillIsNotWaitedForAndIsTakenBack() {
    QuorumStore client = client();
    nodes.server(0).pause();
    Claim claim = claim("paused", true);

    Standing.Held held = take(client, claim);
    assertThat(renew(client, claim)).isEqualTo(held);
    nodes.server(0).resume();

    await()
        .until(
            () -> {
              assertThat(renew(client, claim)).isEqualTo(held);
              return isHeldAt(0, "paused");
            });
    nodes.server(1).kill();
    assertThat(renew(client, claim)).isEqualTo(held);
  }

  @Test
  void aNodeThatDiedAndCameBackIsTakenBackOnceItVotes() throws Exception {
    RedisNodes brief = keep(new RedisNodes(3, "longestLease=4s&nodeTimeout=2s"));
    Pawl pawl = keep(Pawl.connect(brief.url()));
    LockOptions options = LockOptions.defaults().lease(Duration.ofSeconds(4));
    Lease lease = pawl.lock("back", options).acquire();
    Callable<Boolean> hasIt = () -> isHeldAt(brief.server(0), "back");

    await().until(hasIt);
    brief.server(0).kill();
    brief.server(0).restart();

    await().atMost(Duration.ofSeconds(30)).until(hasIt);
    assertThat(lease.isValid()).isTrue();
    brief.server(1).kill();
    long start = System.nanoTime();
    await().until(() -> System.nanoTime() - start > 6_000_000_000L);
    assertThat(lease.isValid()).isTrue();
  }

  @Test
  void p1_oneHolder_aNodeThatWasStartedEmptyDoesNotVoteASecondHolderIn() {
    assertThat(afterAnEmptyRestartBeside(false)).isNotInstanceOf(Standing.Held.class);
  }

  /** Shows that the case above would find out a node that is believed too early. */
  @Test
  void nodesThatAreWronglyDeclaredNewLetASecondHolderIn() {
    assertThat(afterAnEmptyRestartBeside(true)).isInstanceOf(Standing.Held.class);
  }

  /** A holder has nodes 1 and 2 alone; 2 forgets it, and 0 has never heard of it. */
  private Standing afterAnEmptyRestartBeside(boolean trusted) {
    String lock = lockWithSeat(0);
    QuorumStore here = client();
    nodes.server(0).kill();
    take(here, claim(lock, true));
    nodes.server(0).restart();
    nodes.server(2).kill();
    nodes.server(2).restart();
    QuorumStore there = client();
    if (trusted) {
      there.initialize();
    }
    Claim second = claim(lock, true);
    try {
      return attempt(there, second);
    } catch (StoreUnavailableException tooFewVote) {
      return Standing.GONE;
    }
  }

  @Test
  void p2_tokensOnlyGrow_throughMajoritiesThatShareOneNode() {
    QuorumStore client = client();
    long last = 0;
    for (int away : new int[] {0, 1, 2, 1, 0}) {
      nodes.server(away).pause();
      Claim claim = claim("tokens", true);
      Standing.Held held = take(client, claim);
      assertThat(held.token()).isGreaterThan(last);
      last = held.lastToken();
      answer(client.withdraw(claim));
      nodes.server(away).resume();
    }
  }

  @Test
  void aReplyLostByAnyNodeLeavesNothingBehind() {
    List<FaultProxy> proxies = proxies();
    QuorumStore client = client(proxies);
    QuorumStore other = client();
    for (int i = 0; i < 3; i++) {
      String lock = "reply" + i;
      proxies.get(i).dropReplies(1, AfterDrop.RESET, "EVALSHA", "EVAL");
      Claim claim = claim(lock, true);
      Standing.Held held = take(client, claim);
      assertThat(attempt(other, claim(lock, false))).isEqualTo(Standing.GONE);
      answer(client.withdraw(claim));
      proxies.get(i).heal();
      Claim next = claim(lock, true);
      await().until(() -> attempt(other, next) instanceof Standing.Held);
      assertThat(take(other, next).token()).isGreaterThan(held.lastToken());
      int number = i;
      answer(other.withdraw(next));
      await().until(() -> !isHeldAt(number, lock));
    }
  }

  private List<FaultProxy> proxies() {
    return nodes.servers().stream().map(server -> keep(FaultProxy.before(server))).toList();
  }

  private QuorumStore client(List<FaultProxy> proxies) {
    List<String> urls =
        proxies.stream()
            .map(proxy -> "redis://" + proxy.host() + ":" + proxy.port() + "?timeout=1s")
            .toList();
    return keep(RedisNodes.open(nodes.url(urls)));
  }

  @Test
  void p1_oneHolder_whenTwoClientsSeeMajoritiesThatShareOneNode() {
    List<FaultProxy> mine = proxies();
    List<FaultProxy> theirs = proxies();
    QuorumStore here = client(mine);
    QuorumStore there = client(theirs);
    mine.get(2).cut();
    theirs.get(0).cut();
    Claim first = claim("partition", true);
    Standing.Held held = take(here, first);
    Claim second = claim("partition", true);
    CompletableFuture<Standing> rung = new CompletableFuture<>();

    try {
      assertThat(answer(there.attempt(second, rung::complete)))
          .isInstanceOf(Standing.Waiting.class);
    } finally {
      assertThat(renew(here, first)).isEqualTo(held);
    }
    answer(here.withdraw(first));

    await().until(() -> renew(there, second) instanceof Standing.Held);
    assertThat(((Standing.Held) renew(there, second)).token()).isGreaterThan(held.lastToken());
  }

  /** A claim stands in line at one node, the same for all. */
  @Test
  void p6_someoneGetsIn_thoughTheNodeWhereOthersStandInLineDies() {
    QuorumStore here = client();
    QuorumStore there = client();
    for (int i = 0; i < 3; i++) {
      String lock = lockWithSeat(i);
      Claim first = claim(lock, true);
      Standing.Held held = take(here, first);
      Claim second = claim(lock, true);
      assertThat(attempt(there, second)).isInstanceOf(Standing.Waiting.class);

      nodes.server(i).pause();
      assertThat(attempt(there, second)).isInstanceOf(Standing.Waiting.class);
      assertThat(renew(here, first)).isEqualTo(held);
      answer(here.withdraw(first));

      await().until(() -> renew(there, second) instanceof Standing.Held);
      nodes.server(i).resume();
      answer(there.withdraw(second));
    }
  }

  private static String lockWithSeat(int node) {
    int number = 0;
    while (Math.floorMod(("seat" + number).hashCode(), 3) != node) {
      number++;
    }
    return "seat" + number;
  }

  @Test
  void p6_someoneGetsIn_fiveClientsThatContendAreAllServed() throws Exception {
    List<Thread> threads = new ArrayList<>();
    LockOptions options = LockOptions.defaults().lease(LEASE);
    AtomicLong served = new AtomicLong();
    AtomicLong inside = new AtomicLong();
    AtomicLong together = new AtomicLong();
    for (int i = 0; i < 5; i++) {
      Pawl pawl = keep(Pawl.connect(nodes.url()));
      Thread thread =
          new Thread(
              () -> {
                for (int n = 0; n < 20; n++) {
                  try (Lease lease = pawl.lock("contended", options).acquire()) {
                    together.accumulateAndGet(inside.incrementAndGet(), Math::max);
                    inside.decrementAndGet();
                    served.incrementAndGet();
                  } catch (InterruptedException e) {
                    return;
                  }
                }
              });
      thread.start();
      threads.add(thread);
    }
    for (Thread thread : threads) {
      thread.join(60_000);
    }
    assertThat(served).hasValue(100);
    assertThat(together).hasValue(1);
  }

  @Test
  void p1_oneHolder_p2_growingTokens_thoughAClockLeapsAndComesBack() {
    QuorumStore here = client();
    QuorumStore there = client();
    Claim holder = claim("leap", false);
    Standing.Held first = take(here, holder);
    await().until(() -> isHeldAt(0, "leap") && isHeldAt(1, "leap") && isHeldAt(2, "leap"));

    nodes.server(2).moveClock(Duration.ofHours(1));

    assertThat(attempt(there, claim("leap", false))).isEqualTo(Standing.GONE);
    await().until(() -> renew(here, holder) instanceof Standing.Held && isHeldAt(2, "leap"));
    answer(here.withdraw(holder));
    Claim next = claim("leap", true);
    Standing.Held second = take(there, next);
    assertThat(second.token()).isGreaterThan(first.lastToken());

    nodes.server(2).moveClock(Duration.ZERO);

    answer(there.withdraw(next));
    assertThat(take(here, claim("leap", true)).token()).isGreaterThan(second.lastToken());
  }
}
