package io.pawl.zookeeper;

import static io.pawl.zookeeper.Seam.untilItAnswers;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.pawl.error.StoreUnavailableException;
import io.pawl.servers.Direction;
import io.pawl.servers.FaultProxy;
import io.pawl.servers.FaultProxy.AfterDrop;
import io.pawl.servers.ZooKeeperServer;
import io.pawl.spi.Bell;
import io.pawl.spi.Claim;
import io.pawl.spi.Standing;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What becomes of requests while nobody can answer them. */
class OutageTest {

  private static final int REQUESTS = 1_000;
  private static final int MOST_ROUNDS = 20;

  private final ZooKeeperServer server = ZooKeeperServer.start(ContractServers.OPTIONS);
  private final FaultProxy proxy = FaultProxy.before(server);
  private final ZooKeeperStore store =
      Seam.connect("zk://" + proxy.host() + ":" + proxy.port() + "?tick=100ms&timeout=700ms");
  private final Seam seam = new Seam(store);
  private final ZooKeeperStore near =
      Seam.connect("zk://" + server.address() + ContractServers.PARAMETERS);
  private final Seam other = new Seam(near);
  private Claim holder = seam.claim("warm");
  private Claim between = holder;

  @AfterEach
  void close() {
    proxy.heal();
    store.close();
    near.close();
    proxy.close();
    server.close();
  }

  @Test
  void requestsThatWereGivenUpLeaveMemoryThoughTheServiceStaysAway() {
    Claim held = seam.claim("held");
    untilItAnswers(() -> seam.take(held));
    proxy.cut();
    assertThatThrownBy(() -> seam.renew(held)).isInstanceOf(StoreUnavailableException.class);

    List<WeakReference<Bell>> bells = giveUp();

    await()
        .atMost(Duration.ofSeconds(20))
        .until(
            () -> {
              System.gc();
              return bells.stream().allMatch(bell -> bell.get() == null);
            });
    proxy.heal();
    assertThat(untilItAnswers(() -> seam.renew(held))).isInstanceOf(Standing.Held.class);
  }

  private List<WeakReference<Bell>> giveUp() {
    List<WeakReference<Bell>> bells = new ArrayList<>();
    List<CompletionStage<Standing>> answers = new ArrayList<>();
    List<Claim> claims = new ArrayList<>();
    for (int i = 0; i < REQUESTS; i++) {
      List<Standing> rung = new ArrayList<>();
      Bell bell = rung::add;
      bells.add(new WeakReference<>(bell));
      claims.add(seam.claim("away" + i));
      answers.add(store.attempt(claims.get(i), bell));
    }
    for (int i = 0; i < REQUESTS; i++) {
      CompletionStage<Standing> answer = answers.get(i);
      assertThatThrownBy(() -> Seam.answer(answer)).isInstanceOf(StoreUnavailableException.class);
      store.withdraw(claims.get(i).asUnsettled());
    }
    return bells;
  }

  /** Between the trip that makes the node and the one that looks at the queue. */
  @Test
  void aClaimThatWasWithdrawnBetweenItsTripsIsEndedThoughTheConnectionWasLost() {
    Claim warm = between;
    untilItAnswers(() -> seam.take(warm));
    CompletionStage<Standing> attempt = attemptBetweenItsTrips();
    proxy.blackHole(Direction.TO_SERVER);
    CompletionStage<Void> withdrawal = store.withdraw(between.asUnsettled());
    assertThatThrownBy(() -> Seam.answer(attempt)).isInstanceOf(StoreUnavailableException.class);
    assertThatThrownBy(() -> Seam.answer(withdrawal)).isInstanceOf(StoreUnavailableException.class);

    proxy.reset();
    proxy.heal();

    await().until(() -> Seam.answer(near.show(between.lock())).orElseThrow().waiters().isEmpty());
    other.withdraw(holder);
    other.take(other.claim(between.lock()));
  }

  /**
   * Its node is made and known, and the answer to the second trip is lost. It stands behind a
   * holder: one that is held has a third trip, after which it rightly stays for its shortest hold.
   */
  private CompletionStage<Standing> attemptBetweenItsTrips() {
    for (int round = 0; round < MOST_ROUNDS; round++) {
      String lock = "between" + round;
      Claim first = seam.claim(lock); // from then on the lock is known, and not made
      untilItAnswers(() -> seam.take(first));
      untilItAnswers(() -> seam.withdraw(first));
      holder = other.claim(lock);
      other.take(holder);
      between = seam.lasting(lock, Duration.ofMinutes(1));
      proxy.dropReplies(1, AfterDrop.SILENCE, lock + "\0"); // as the second trip asks for it
      CompletableFuture<Standing> attempt =
          store.attempt(between, standing -> {}).toCompletableFuture();
      await().until(() -> proxy.droppedReplies() == 1 || attempt.isDone());
      if (proxy.droppedReplies() == 1) {
        return attempt;
      }
    }
    throw new AssertionError("no answer was lost");
  }
}
