package io.pawl.zookeeper;

import static io.pawl.zookeeper.Seam.untilItAnswers;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.error.StoreUnavailableException;
import io.pawl.servers.FaultProxy;
import io.pawl.servers.ZooKeeperServer;
import io.pawl.spi.Bell;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Standing;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A stage completes, and a bell rings, while no mutex is held that a request of others needs. */
class CallbacksTest {

  private static final long PATIENCE_SECONDS = 10;

  private final ZooKeeperServer server = ZooKeeperServer.start(ContractServers.OPTIONS);
  private final FaultProxy proxy = FaultProxy.before(server);
  private final ZooKeeperStore store =
      ZooKeeperStore.connect(
          "zk://" + proxy.host() + ":" + proxy.port() + "?tick=100ms&timeout=3s");
  private final Seam seam = new Seam(store);
  private final Claim held = seam.claim("held");

  @BeforeEach
  void openTheSession() {
    untilItAnswers(() -> seam.take(held));
  }

  @AfterEach
  void close() {
    proxy.heal();
    store.close();
    proxy.close();
    server.close();
  }

  /**
   * Whether a request of another thread is made, answered or not, while a callback waits for it.
   */
  private <T> CompletableFuture<Boolean> othersGoOnIn(CompletionStage<T> stage, Claim claim) {
    return stage
        .handle((value, error) -> error)
        .thenApply(
            error -> {
              CompletableFuture<Boolean> made =
                  CompletableFuture.supplyAsync(
                      () -> {
                        store.attempt(seam.claim("other"), standing -> {});
                        store.withdraw(claim);
                        return true;
                      },
                      task -> new Thread(task, "other").start());
              return made.completeOnTimeout(false, PATIENCE_SECONDS, TimeUnit.SECONDS).join();
            })
        .toCompletableFuture();
  }

  @Test
  void othersMayMakeRequestsWhileTheAnswerToARenewalIsHandled() {
    proxy.cut();
    assertThatThrownBy(() -> seam.withdraw(held)).isInstanceOf(StoreUnavailableException.class);
    CompletableFuture<Boolean> gone = othersGoOnIn(store.renew(List.of(held)), held);

    proxy.heal();

    assertThat(gone.orTimeout(30, TimeUnit.SECONDS).join()).isTrue();
  }

  /** It throws in a look that the renewal waits for: that was sent before the lock was free. */
  @Test
  void aBellThatThrowsCostsNoRenewalThatLooksAtTheTime() {
    try (ZooKeeperStore far =
            ZooKeeperStore.connect("zk://" + proxy.host() + ":" + proxy.port() + "?timeout=5s");
        ZooKeeperStore near =
            ZooKeeperStore.connect("zk://" + server.address() + ContractServers.PARAMETERS)) {
      Seam client = new Seam(far);
      Seam other = new Seam(near);
      Claim mine = client.claim("mine");
      client.take(mine);
      Claim before = other.claim("busy");
      other.take(before);
      Claim waiting = client.claim("busy");
      Bell bell =
          standing -> {
            throw new OutOfMemoryError("for a test");
          };
      assertThat(Seam.answer(far.attempt(waiting, bell))).isInstanceOf(Standing.Waiting.class);
      proxy.cut();
      CompletionStage<Map<ClaimId, Standing>> renewal = far.renew(List.of(mine, waiting));
      other.withdraw(before);

      proxy.heal();

      assertThat(Seam.answer(renewal).values())
          .hasSize(2)
          .allMatch(Standing.Held.class::isInstance);
    }
  }

  @Test
  void othersMayMakeRequestsWhileAnAttemptIsToldThatItWasWithdrawnBeforeItWasSent() {
    proxy.cut();
    assertThatThrownBy(() -> seam.renew(held)).isInstanceOf(StoreUnavailableException.class);
    Claim late = seam.claim("late");
    CompletionStage<Standing> attempt = store.attempt(late, standing -> {});
    CompletableFuture<Boolean> told = othersGoOnIn(attempt, late);
    CompletionStage<Void> withdrawal = store.withdraw(late);

    proxy.heal();

    assertThat(told.orTimeout(30, TimeUnit.SECONDS).join()).isTrue();
    Seam.answer(withdrawal);
  }
}
