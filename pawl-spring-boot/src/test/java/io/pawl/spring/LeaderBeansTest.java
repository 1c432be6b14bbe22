package io.pawl.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.pawl.Pawl;
import io.pawl.concurrent.Uninterruptibly;
import io.pawl.error.StoreUnavailableException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.annotation.ReflectiveRuntimeHintsRegistrar;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;

/** Beans that lead though they are made late, or not at all. */
class LeaderBeansTest {

  private final TestClients clients = new TestClients();

  @AfterEach
  void close() {
    clients.close();
  }

  static class Shipping {
    @Leader("shipping")
    void ship() throws InterruptedException {
      new CountDownLatch(1).await();
    }

    @Locked("orders")
    public void order() {}

    @ScheduledOnce("nightly")
    public void nightly() {}
  }

  private void awaitLeader() {
    await().until(() -> !clients.isFree("shipping"));
  }

  @Test
  void aLeaderLeadsThoughTheApplicationMakesItsBeansLazily() {
    TestClients.application()
        .withInitializer(
            context ->
                context.addBeanFactoryPostProcessor(
                    new LazyInitializationBeanFactoryPostProcessor()))
        .withBean(Shipping.class)
        .run(context -> awaitLeader());
  }

  @Test
  void aBeanThatIsMadeAfterTheStartLeadsFromThenOn() {
    TestClients.application()
        .withBean(Shipping.class, Shipping::new, bean -> bean.setLazyInit(true))
        .run(
            context -> {
              assertThat(clients.isFree("shipping")).isTrue();
              assertThat(context.getBean(Shipping.class)).isNotNull();
              awaitLeader();
            });
    await().until(() -> clients.isFree("shipping"));
  }

  @Test
  void aBeanOfWhichThereAreSeveralIsRefused() {
    TestClients.application()
        .withBean(Shipping.class, Shipping::new, bean -> bean.setScope("prototype"))
        .run(
            context ->
                assertThatThrownBy(() -> context.getBean(Shipping.class))
                    .rootCause()
                    .hasMessageContaining("singleton"));
  }

  @Test
  void aBeanThatIsDestroyedLeadsNoMore() {
    TestClients.application()
        .withBean("leading", Shipping.class)
        .run(
            context -> {
              awaitLeader();
              ((DefaultListableBeanFactory) context.getBeanFactory()).destroySingleton("leading");
              assertThat(clients.isFree("shipping")).isTrue();

              assertThat(context.getBean("leading")).isNotNull();
              awaitLeader();
            });
  }

  /** The second of its methods cannot be had, as where an election has no such name. */
  static class Half {
    @Leader("first")
    void first() throws InterruptedException {
      new CountDownLatch(1).await();
    }

    @Leader(name = "second", lease = "as long as possible")
    void second() {}
  }

  @Test
  void aLateBeanThatIsNotMadeForOneOfItsMethodsDoesNotLeadByAnother() {
    TestClients.application()
        .withBean(Half.class, Half::new, bean -> bean.setLazyInit(true))
        .run(
            context -> {
              for (int i = 0; i < 10; i++) { // the order of methods is as it happens to be
                assertThatThrownBy(() -> context.getBean(Half.class)).isInstanceOf(Exception.class);
              }
              await()
                  .during(Duration.ofMillis(500))
                  .atMost(Duration.ofSeconds(5))
                  .until(() -> clients.isFree("first"));
            });
  }

  /** Who opens a client may wait for its store, and for others who make beans. */
  @Test
  void aLateLeaderKeepsNobodyWaitingWhileItsClientIsOpened() throws Exception {
    CountDownLatch asked = new CountDownLatch(1);
    CountDownLatch open = new CountDownLatch(1);
    Leaders leaders =
        leaders(
            () -> {
              asked.countDown();
              Uninterruptibly.await(open, TimeUnit.MINUTES.toNanos(1));
              return clients.other();
            });
    leaders.start();
    Executor own = task -> new Thread(task).start(); // the common pool may have one thread
    CompletableFuture<Object> late =
        CompletableFuture.supplyAsync(
            () -> leaders.postProcessAfterInitialization(new Shipping(), "late"), own);
    asked.await();

    CompletableFuture.runAsync(leaders::stop, own).get(10, TimeUnit.SECONDS);
    open.countDown();

    assertThat(late.get(10, TimeUnit.SECONDS)).isNotNull();
    await()
        .during(Duration.ofMillis(200))
        .atMost(Duration.ofSeconds(5))
        .until(() -> clients.isFree("shipping"));
  }

  @Test
  void aLateLeaderWhoseClientCouldNotBeOpenedStandsWhenItIsMadeAgain() {
    AtomicInteger opened = new AtomicInteger();
    Leaders leaders =
        leaders(
            () -> {
              if (opened.getAndIncrement() == 0) {
                throw new StoreUnavailableException("away");
              }
              return clients.other();
            });
    Shipping bean = new Shipping();
    leaders.start();

    assertThatThrownBy(() -> leaders.postProcessAfterInitialization(bean, "late"))
        .isInstanceOf(StoreUnavailableException.class);
    assertThat(leaders.postProcessAfterInitialization(bean, "late")).isSameAs(bean);

    awaitLeader();
    leaders.stop();
  }

  private static Leaders leaders(Supplier<Pawl> pawl) {
    LockSettings settings =
        new LockSettings(Duration.ZERO, Duration.ofSeconds(30), OpenTransaction.REFUSE);
    return new Leaders(pawl, () -> settings, new DefaultListableBeanFactory());
  }

  @Test
  void aNativeImageKeepsTheMethodsWithAnnotations() throws Exception {
    RuntimeHints hints = new RuntimeHints();
    new ReflectiveRuntimeHintsRegistrar().registerRuntimeHints(hints, Shipping.class);
    for (String method : new String[] {"ship", "order", "nightly"}) {
      assertThat(
              RuntimeHintsPredicates.reflection()
                  .onMethodInvocation(Shipping.class.getDeclaredMethod(method)))
          .as(method)
          .accepts(hints);
    }
  }
}
