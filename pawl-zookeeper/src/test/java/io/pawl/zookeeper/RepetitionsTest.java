package io.pawl.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.pawl.concurrent.Futures;
import io.pawl.servers.ZooKeeperServer;
import io.pawl.spi.Claim;
import io.pawl.spi.Inspectable.LockView;
import io.pawl.spi.Standing;
import io.pawl.spi.StoreUrl;
import java.lang.reflect.Field;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.Test;

/** What is asked twice is done once. */
class RepetitionsTest {

  private static final int THREADS = 4;
  private static final int ROUNDS = 100;

  /** A second node of one session and one claim would keep others out for as long as it lives. */
  @Test
  void attemptsOfOneClaimAtTheSameMomentMakeOneNode() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    try (ZooKeeperServer server = ZooKeeperServer.start(ContractServers.OPTIONS);
        ZooKeeperStore store =
            ZooKeeperStore.connect("zk://" + server.address() + ContractServers.PARAMETERS)) {
      Seam seam = new Seam(store);
      seam.withdraw(taken(seam));
      for (int round = 0; round < ROUNDS; round++) {
        Claim claim = seam.claim("lock" + round);
        CyclicBarrier start = new CyclicBarrier(THREADS);
        Callable<CompletionStage<Standing>> attempt =
            () -> {
              start.await();
              return store.attempt(claim, standing -> {});
            };
        List<Callable<CompletionStage<Standing>>> attempts = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
          attempts.add(attempt);
        }
        for (Future<CompletionStage<Standing>> each : threads.invokeAll(attempts)) {
          assertThat(Seam.answer(each.get())).isInstanceOf(Standing.Held.class);
        }
        LockView view = Seam.answer(store.show(claim.lock())).orElseThrow();
        assertThat(view.holders()).hasSize(1);
        assertThat(view.waiters()).isEmpty();
      }
    } finally {
      threads.shutdownNow();
    }
  }

  @Test
  void aWaiterBehindAShortestHoldKeepsOneTimerHoweverOftenItAsks() {
    try (ZooKeeperServer server = ZooKeeperServer.start(ContractServers.OPTIONS);
        ZooKeeperStore store =
            ZooKeeperStore.connect("zk://" + server.address() + ContractServers.PARAMETERS);
        Clock clock = new Clock()) {
      Seam seam = new Seam(store);
      Claim lasting = seam.lasting("lock", Duration.ofHours(1));
      seam.take(lasting);
      seam.withdraw(lasting);
      Settings settings =
          Settings.parse(StoreUrl.parse("zk://" + server.address() + ContractServers.PARAMETERS));
      QueuedClaims claims = new QueuedClaims(settings, clock, new Failures(settings.shown()));
      Claim waiter = seam.claim("lock");
      assertThat(Seam.answer(claims.attempt(waiter, standing -> {})))
          .isInstanceOf(Standing.Waiting.class);
      int once = clock.waiting();

      for (int i = 0; i < ROUNDS; i++) {
        Seam.answer(claims.renew(List.of(waiter)));
      }

      assertThat(clock.waiting()).isLessThanOrEqualTo(once + 1); // a request may wait to be sent
      Seam.answer(claims.withdraw(waiter));
      assertThat(clock.waiting()).isLessThanOrEqualTo(once);
      claims.close();
    }
  }

  private static Claim taken(Seam seam) {
    Claim claim = seam.claim("warm");
    seam.take(claim);
    return claim;
  }

  /** The attempt opens a session meanwhile, as the first one after an outage does. */
  @Test
  void anAttemptThatItsWithdrawalHasOvertakenLeavesNothing() throws Exception {
    try (ZooKeeperServer server = ZooKeeperServer.start(ContractServers.OPTIONS);
        ZooKeeperStore store =
            ZooKeeperStore.connect("zk://" + server.address() + ContractServers.PARAMETERS);
        Clock clock = new Clock()) {
      Settings settings =
          Settings.parse(StoreUrl.parse("zk://" + server.address() + ContractServers.PARAMETERS));
      QueuedClaims claims = new QueuedClaims(settings, clock, new Failures(settings.shown()));
      Field mutex = Sessions.class.getDeclaredField("mutex");
      mutex.setAccessible(true);
      ReentrantLock opening = (ReentrantLock) mutex.get(claims.sessions());
      Claim claim = new Seam(store).claim("overtaken");
      CompletableFuture<Standing> answer = new CompletableFuture<>();
      Thread asker =
          new Thread(() -> Futures.follow(answer, claims.attempt(claim, standing -> {})));
      opening.lock();
      asker.start();
      await().until(() -> opening.hasQueuedThread(asker));
      Seam.answer(claims.withdraw(claim.asUnsettled()));
      opening.unlock();

      assertThat(Seam.answer(answer)).isEqualTo(Standing.GONE);
      assertThat(Seam.answer(store.show("overtaken")).map(LockView::holders).orElse(List.of()))
          .isEmpty();
      claims.close();
    }
  }
}
