package io.pawl.quorum;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.pawl.error.StoreUnavailableException;
import io.pawl.servers.FaultProxy;
import io.pawl.servers.RedisServer;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Holder;
import io.pawl.spi.LockStore;
import io.pawl.spi.Mode;
import io.pawl.spi.QuorumNode;
import io.pawl.spi.Standing;
import io.pawl.spi.StoreUrl;
import io.pawl.spi.Stores;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Nodes 0 and 1 grant a token of which node 2 never hears, and node 1 forgets it. Nodes 1 and 2 are
 * a majority then, and neither knows how large that token was.
 */
class QuorumTokensTest {

  private static final Duration LEASE = Duration.ofSeconds(2);
  private static final String LOCK = "raised";
  private static final AtomicLong numbers = new AtomicLong();

  @TempDir Path directory;
  private final List<AutoCloseable> opened = new ArrayList<>();

  @AfterEach
  void close() throws Exception {
    for (int i = opened.size() - 1; i >= 0; i--) {
      opened.get(i).close();
    }
  }

  private <T extends AutoCloseable> T keep(T closeable) {
    opened.add(closeable);
    return closeable;
  }

  private static Claim claim(String lock) {
    return claim(lock, LEASE);
  }

  private static Claim claim(String lock, Duration lease) {
    return new Claim(
        lock,
        new ClaimId("tokens", numbers.incrementAndGet()),
        Mode.EXCLUSIVE,
        lease,
        Duration.ZERO,
        true,
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

  /** Takes the lock, however long that takes, and gives it back. */
  private static long token(QuorumStore client, String lock) {
    AtomicReference<Claim> claim = new AtomicReference<>(claim(lock));
    AtomicReference<Standing> standing = new AtomicReference<>(Standing.GONE);
    await()
        .ignoreExceptionsMatching(StoreUnavailableException.class::isInstance)
        .until(
            () -> {
              standing.set(answer(client.attempt(claim.get(), rung -> {})));
              if (standing.get() == Standing.GONE) {
                claim.set(claim(lock));
              }
              return standing.get() instanceof Standing.Held;
            });
    answer(client.withdraw(claim.get()));
    return ((Standing.Held) standing.get()).token();
  }

  /** Some client asks for some lock, which tells it that a node does not vote. */
  private static void use(QuorumStore client) {
    Claim claim = claim("another");
    answer(client.attempt(claim, rung -> {}).handle((standing, error) -> claim));
    answer(client.withdraw(claim).handle((nothing, error) -> claim));
  }

  /**
   * Others have it at this node, so that no client brings nodes to agree on tokens for it: that
   * would tell them of the clock that is ahead.
   */
  private void occupy(RedisServer node) {
    LockStore alone = keep(Stores.open(StoreUrl.parse(node.url())));
    Claim claim = claim("another", Duration.ofMinutes(5));
    assertThat(answer(alone.attempt(claim, rung -> {}))).isInstanceOf(Standing.Held.class);
  }

  @Test
  void p2_tokensOnlyGrow_thoughARedisNodeWhoseClockIsBehindWasStartedEmpty() {
    assertTokensGrowThoughNode1Forgets(nodes -> {});
  }

  @Test
  void p2_tokensOnlyGrow_thoughARedisNodeWhoseClockIsBehindWasStartedFromAnOldFile() {
    assertTokensGrowThoughNode1Forgets(
        nodes -> {
          token(keep(nodes.open()), LOCK);
          assertThat(nodes.server(1).text("SAVE")).isEqualTo("OK");
        });
  }

  private void assertTokensGrowThoughNode1Forgets(Consumer<RedisNodes> before) {
    RedisNodes nodes =
        keep(
            new RedisNodes(
                3,
                "longestLease=2s&nodeTimeout=2s",
                () -> RedisServer.setup().movableClock().start()));
    before.accept(nodes);
    nodes.server(0).moveClock(Duration.ofHours(1));
    FaultProxy wayTo2 = keep(FaultProxy.before(nodes.server(2)));
    String cut = "redis://" + wayTo2.host() + ":" + wayTo2.port() + "?timeout=1s";
    QuorumStore first =
        keep(
            RedisNodes.open(nodes.url(List.of(nodes.server(0).url(), nodes.server(1).url(), cut))));
    wayTo2.cut();
    long told = token(first, LOCK);

    nodes.server(1).kill();
    nodes.server(1).restart();
    occupy(nodes.server(0));
    occupy(nodes.server(2));
    QuorumStore second = keep(nodes.open());
    await()
        .until(
            () -> {
              use(second);
              return nodes.server(1).text("HEXISTS", "pawl:quorum", "high").equals("1");
            });
    nodes.server(0).pause();

    assertThat(token(second, LOCK)).isGreaterThan(told);
  }

  private QuorumNode database(String file) {
    LockStore store = Stores.open(StoreUrl.parse("sqlite:" + directory.resolve(file)));
    return (QuorumNode) keep(store);
  }

  private QuorumStore over(QuorumNode... nodes) {
    QuorumOptions options = QuorumOptions.defaults().longestLease(LEASE).nodeTimeout(LEASE);
    return keep(QuorumStore.over(List.of(nodes), options));
  }

  @Test
  void p2_tokensOnlyGrow_thoughADatabaseLostAllThatItHad() throws IOException {
    QuorumNode zero = database("0.db");
    QuorumNode two = database("2.db");
    QuorumNode nobody = database("nobody.db"); // never votes
    LockStore lost = Stores.open(StoreUrl.parse("sqlite:" + directory.resolve("1.db")));
    over(zero, (QuorumNode) lost, two).initialize();
    QuorumStore first = over(zero, (QuorumNode) lost, nobody);
    long told = 0;
    for (int i = 0; i < 10; i++) {
      told = token(first, LOCK);
    }
    first.close();
    lost.close();
    for (String file : new String[] {"1.db", "1.db-wal", "1.db-shm"}) {
      Files.deleteIfExists(directory.resolve(file));
    }
    QuorumNode one = database("1.db");
    QuorumStore second = over(zero, one, two);
    await()
        .until(
            () -> {
              use(second);
              return answer(one.incarnation()).raised();
            });

    assertThat(token(over(nobody, one, two), LOCK)).isGreaterThan(told);
  }
}
