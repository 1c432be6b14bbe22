package io.pawl.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.annotation.ReflectiveRuntimeHintsRegistrar;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
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
