package io.pawl.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.pawl.Pawl;
import io.pawl.error.LeaseLostException;
import io.pawl.memory.MemoryStore;
import io.pawl.options.PawlOptions;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.scheduling.annotation.Async;

/** A locked method on a thread of an application's executor, whose stage never completes. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class AwaitedStageTest {

  private final ExecutorService one = Executors.newFixedThreadPool(1);
  private final CountDownLatch over = new CountDownLatch(1);

  @AfterEach
  void close() {
    over.countDown();
    one.shutdownNow();
  }

  static class Shop {
    private Runnable onLost = () -> {};

    @Async
    @Locked(name = "orders")
    public CompletableFuture<String> order() {
      Leases.current().onLost(onLost);
      return new CompletableFuture<>();
    }
  }

  private void endsWithItsClient(Shop target, PawlOptions options) throws Exception {
    try (Pawl pawl = Pawl.over(new MemoryStore(), options)) {
      ProxyFactory proxies = new ProxyFactory(target);
      proxies.setProxyTargetClass(true);
      proxies.addAdvisor(
          new LockAdvisor(
              () -> pawl, LockSettings::defaults, () -> null, new DefaultListableBeanFactory()));
      Shop shop = (Shop) proxies.getProxy();
      Future<?> call = one.submit(shop::order);
      await().until(() -> pawl.inspect("orders").isHeld());

      pawl.close(Duration.ZERO);

      assertThat(call)
          .failsWithin(Duration.ofSeconds(30))
          .withThrowableThat()
          .withCauseInstanceOf(LeaseLostException.class);
    }
  }

  @Test
  void theCallEndsWithItsLeaseThoughACallbackOfTheLossDoesNot() throws Exception {
    Shop shop = new Shop();
    shop.onLost =
        () -> {
          try {
            over.await(60, TimeUnit.SECONDS);
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
        };
    endsWithItsClient(shop, PawlOptions.defaults());
  }

  @Test
  void theCallEndsWithItsLeaseThoughItHoldsTheThreadOfCallbacks() throws Exception {
    endsWithItsClient(new Shop(), PawlOptions.defaults().executor(one));
  }
}
