package io.pawl.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.pawl.servers.Direction;
import io.pawl.servers.FaultProxy;
import io.pawl.servers.ZooKeeperServer;
import io.pawl.spi.Claim;
import io.pawl.spi.Standing;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Closing a store ends, whatever is under way, and leaves nothing of it behind. */
class ClosingTest {

  private final ZooKeeperServer server = ZooKeeperServer.start(ContractServers.OPTIONS);
  private final FaultProxy proxy = FaultProxy.before(server);
  private final ZooKeeperStore store =
      ZooKeeperStore.connect(
          "zk://" + proxy.host() + ":" + proxy.port() + ContractServers.PARAMETERS);
  private final Seam seam = new Seam(store);
  private final ZooKeeperStore near =
      ZooKeeperStore.connect("zk://" + server.address() + ContractServers.PARAMETERS);
  private final Seam other = new Seam(near);

  @AfterEach
  void close() {
    proxy.heal();
    store.close();
    near.close();
    proxy.close();
    server.close();
  }

  /** ZooKeeper's client names its threads after the server. */
  private List<String> threads() {
    return Thread.getAllStackTraces().keySet().stream()
        .map(Thread::getName)
        .filter(name -> name.contains(":" + proxy.port()) || name.equals("pawl-zookeeper-close"))
        .toList();
  }

  private void assertNothingIsLeft() {
    await().untilAsserted(() -> assertThat(threads()).isEmpty());
    await().untilAsserted(() -> assertThat(proxy.connections()).isZero());
  }

  @Test
  void aStoreIsClosedWhileClaimsWithAShortestHoldAreOnTheirWay() {
    Claim first = seam.lasting("lock", Duration.ofMinutes(1));
    Claim second = seam.lasting("lock", Duration.ofMinutes(1));
    Claim ended = seam.lasting("ended", Duration.ofMinutes(1));
    seam.take(first);
    assertThat(seam.attempt(second)).isInstanceOf(Standing.Waiting.class);
    seam.take(ended);
    seam.withdraw(ended);
    store.attempt(seam.lasting("late", Duration.ofMinutes(1)), standing -> {});

    store.close();

    assertNothingIsLeft();
    assertThat(other.attempt(other.claim("lock"))).isInstanceOf(Standing.Waiting.class);
    assertThat(other.attempt(other.claim("ended"))).isInstanceOf(Standing.Waiting.class);
  }

  /** Its connections are slow, so that what is not waited for is not over yet. */
  @Test
  void anInterruptedThreadWaitsForTheEndOfTheSessions() {
    Claim claim = seam.claim("lock");
    seam.take(claim);
    seam.withdraw(claim);
    proxy.delay(Direction.TO_CLIENT, Duration.ofMillis(200));
    Thread.currentThread().interrupt();

    store.close();

    assertThat(Thread.interrupted()).isTrue();
    assertThat(threads()).isEmpty();
  }

  /** ZooKeeper's client waits two thirds of each session's time-out, 40 s here and more. */
  @Test
  void aSilentServerDelaysClosingForSecondsWhateverTheSessions() {
    for (int i = 0; i < 5; i++) {
      Claim claim = seam.claim("lock" + i, Duration.ofSeconds(60 + i), 1);
      seam.take(claim);
      seam.withdraw(claim);
    }
    proxy.blackHole(Direction.TO_SERVER);
    proxy.blackHole(Direction.TO_CLIENT);

    CompletableFuture.runAsync(store::close).orTimeout(20, TimeUnit.SECONDS).join();
    proxy.heal();

    assertNothingIsLeft();
  }
}
