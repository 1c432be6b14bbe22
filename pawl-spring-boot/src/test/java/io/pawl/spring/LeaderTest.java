package io.pawl.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.pawl.Lease;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.scheduling.annotation.Async;

class LeaderTest {

  private final TestClients clients = new TestClients();

  @AfterEach
  void close() {
    clients.close();
  }

  static class Shipping {

    private final AtomicInteger leading = new AtomicInteger();

    int leading() {
      return leading.get();
    }

    @Leader("shipping")
    void ship(Lease lease) throws InterruptedException {
      if (lease.equals(Leases.current())) {
        leading.incrementAndGet();
      }
      try {
        new CountDownLatch(1).await();
      } finally {
        leading.decrementAndGet();
      }
    }
  }

  static class TwoParameters {
    @Leader("shipping")
    void ship(Lease lease, String other) {}
  }

  static class GoesOnElsewhere {
    @Async
    @Leader("shipping")
    void ship() {}
  }

  @Async
  static class AllGoOnElsewhere {
    @Leader("shipping")
    void ship() {}
  }

  static class GoesOnAsAStage {
    @Leader("shipping")
    CompletableFuture<Void> ship() {
      return new CompletableFuture<>();
    }
  }

  @Test
  void oneApplicationLeadsAndTheOtherTakesOverWhenItEnds() {
    TestClients.application()
        .withBean(Shipping.class)
        .run(
            first -> {
              Shipping one = first.getBean(Shipping.class);
              await().until(() -> one.leading() == 1);
              TestClients.application()
                  .withBean(Shipping.class)
                  .run(
                      second -> {
                        Shipping two = second.getBean(Shipping.class);
                        await()
                            .until(() -> clients.other().inspect("shipping").waiters().size() == 1);
                        assertThat(two.leading()).isZero();

                        first.getSourceApplicationContext().close();

                        assertThat(one.leading()).isZero();
                        await().until(() -> two.leading() == 1);
                      });
              await().until(() -> clients.isFree("shipping"));
            });
  }

  static class TwoLeaders {

    private final CountDownLatch leading = new CountDownLatch(2);
    private final CountDownLatch interrupted = new CountDownLatch(2);
    private final AtomicInteger together = new AtomicInteger();

    @Leader("first")
    void first() throws InterruptedException {
      lead();
    }

    @Leader("second")
    void second() throws InterruptedException {
      lead();
    }

    private void lead() throws InterruptedException {
      leading.countDown();
      try {
        new CountDownLatch(1).await();
      } catch (InterruptedException e) {
        interrupted.countDown();
        together.addAndGet(interrupted.await(4, TimeUnit.SECONDS) ? 1 : 0);
      }
    }
  }

  /** So that what each of them needs to end is no sum. */
  @Test
  void allLeadersAreInterruptedBeforeTheFirstIsWaitedFor() {
    AtomicReference<TwoLeaders> bean = new AtomicReference<>();
    TestClients.application()
        .withBean(TwoLeaders.class)
        .run(
            context -> {
              bean.set(context.getBean(TwoLeaders.class));
              assertThat(bean.get().leading.await(30, TimeUnit.SECONDS)).isTrue();
              context.close();
            });

    assertThat(bean.get().interrupted.getCount()).isZero();
    assertThat(bean.get().together).hasValue(2);
  }

  static class OneAfterTheOther {

    private final AtomicInteger led = new AtomicInteger();

    @Leader("shipping")
    void ship() {
      led.incrementAndGet();
    }

    @Leader("shipping")
    void ship(Lease lease) {
      led.addAndGet(lease.isValid() ? 100 : 0);
    }
  }

  @Test
  void methodsOfOneNameLeadOneAfterTheOther() {
    TestClients.application()
        .withBean(OneAfterTheOther.class)
        .run(
            context ->
                await().until(() -> context.getBean(OneAfterTheOther.class).led.get() == 101));
  }

  static class FinalLeader {

    private final AtomicInteger led = new AtomicInteger();

    @Leader("shipping")
    final void ship() {
      led.incrementAndGet();
    }
  }

  static class FinalLeaderBehindAProxy {

    private final AtomicInteger led = new AtomicInteger();

    @Leader("shipping")
    final void ship() {
      led.incrementAndGet();
    }

    @Locked("stock")
    public void count() {}
  }

  @Test
  void aFinalMethodLeadsWhereItsBeanHasNoProxy() {
    TestClients.application()
        .withBean(FinalLeader.class)
        .run(context -> await().until(() -> context.getBean(FinalLeader.class).led.get() == 1));
  }

  /** It would run on the proxy, whose fields are empty. */
  @Test
  void aFinalMethodOfABeanWithAProxyIsRefusedAtTheStart() {
    TestClients.application()
        .withBean(FinalLeaderBehindAProxy.class)
        .run(
            context ->
                assertThat(context)
                    .getFailure()
                    .rootCause()
                    .hasMessageContaining("is final and its bean has a proxy"));
  }

  @Test
  void aMethodThatCannotLeadIsRefusedAtTheStart() {
    TestClients.application()
        .withBean(TwoParameters.class)
        .run(context -> assertThat(context).hasFailed());
  }

  /** Else each machine would begin, and leave the leadership to the next at once. */
  @ParameterizedTest
  @ValueSource(classes = {GoesOnElsewhere.class, AllGoOnElsewhere.class, GoesOnAsAStage.class})
  void aMethodThatGoesOnAfterItHasReturnedIsRefusedAtTheStart(Class<?> bean) {
    TestClients.application()
        .withBean(bean)
        .run(
            context ->
                assertThat(context)
                    .getFailure()
                    .rootCause()
                    .hasMessageContaining("goes on after it has returned"));
  }
}
