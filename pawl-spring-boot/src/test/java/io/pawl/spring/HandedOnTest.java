package io.pawl.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.pawl.Lease;
import io.pawl.Pawl;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Which locks a call still needs that comes from one proxy of its bean to another. */
class HandedOnTest {

  private final TestClients clients = new TestClients();

  @AfterEach
  void close() {
    clients.close();
  }

  /** Each call tells whether its lock is held in the store of the test. */
  static class Orders {

    private final Pawl other;

    Orders(Pawl other) {
      this.other = other;
    }

    Pawl other() {
      return other;
    }

    private boolean isHeld(int id) {
      return other.inspect("orders:" + id).isHeld();
    }

    @Locked(name = "orders:#{#id}", waitAtMost = "1s")
    public boolean blocking(int id) {
      return isHeld(id);
    }

    @Locked(name = "orders:#{#id}", waitAtMost = "1s")
    public CompletableFuture<Boolean> stage(int id) {
      return CompletableFuture.completedFuture(isHeld(id));
    }

    @Locked(name = "orders:#{#id}", waitAtMost = "1s")
    public Mono<Boolean> mono(int id) {
      return Mono.fromCallable(() -> isHeld(id));
    }

    @Locked(name = "orders:#{#id}", waitAtMost = "1s")
    public Flux<Boolean> flux(int id) {
      return Flux.defer(() -> Flux.just(isHeld(id)));
    }
  }

  private static void assertHeld(Orders orders) throws Exception {
    assertThat(orders.blocking(1)).isTrue();
    assertThat(orders.stage(3).get(10, TimeUnit.SECONDS)).isTrue();
    assertThat(orders.mono(5).block(Duration.ofSeconds(10))).isTrue();
    assertThat(orders.flux(7).blockLast(Duration.ofSeconds(10))).isTrue();
  }

  @Configuration(proxyBeanMethods = false)
  static class Renumbering {
    @Bean
    Orders renumbered(@Qualifier("orders") Orders orders) {
      ProxyFactory factory = new ProxyFactory(orders);
      factory.setProxyTargetClass(true);
      factory.addAdvice((MethodInterceptor) Renumbering::next);
      return (Orders) factory.getProxy();
    }

    private static Object next(MethodInvocation call) throws Throwable {
      ((ProxyMethodInvocation) call).setArguments((int) call.getArguments()[0] + 1);
      return call.proceed();
    }
  }

  @Test
  void aCallWhoseArgumentsWereChangedOnItsWayTakesTheLockOfTheNewOnes() {
    TestClients.application()
        .withBean("orders", Orders.class, () -> new Orders(clients.other()))
        .withUserConfiguration(Renumbering.class)
        .run(context -> assertHeld(context.getBean("renumbered", Orders.class)));
  }

  @Configuration(proxyBeanMethods = false)
  static class WithAClientOfItsOwn {
    @Bean
    Pawl pawl() {
      return Pawl.connect("memory:another");
    }

    @Bean
    Orders alias(@Qualifier("orders") Orders orders) {
      return orders;
    }
  }

  @Test
  void aBeanOfAParentTakesItsLocksThoughAChildHasTheirNamesInAnotherStore() {
    TestClients.application()
        .withBean("orders", Orders.class, () -> new Orders(clients.other()))
        .run(
            parent ->
                TestClients.application()
                    .withUserConfiguration(WithAClientOfItsOwn.class)
                    .withParent(parent)
                    .run(child -> assertHeld(child.getBean("alias", Orders.class))));
  }

  interface Handler<T> {
    @Locked(name = "orders", waitAtMost = "1s")
    String blocking(T order);

    @Locked(name = "orders", waitAtMost = "1s")
    CompletableFuture<String> stage(T order);

    @Locked(name = "orders", waitAtMost = "1s")
    Mono<String> mono(T order);

    @ScheduledOnce("nightly")
    void nightly(T order);
  }

  static class StringHandler implements Handler<String> {

    private final AtomicInteger runs = new AtomicInteger();

    @Override
    public String blocking(String order) {
      return Leases.current().lock();
    }

    @Override
    public CompletableFuture<String> stage(String order) {
      return CompletableFuture.completedFuture(Leases.current().lock());
    }

    @Override
    public Mono<String> mono(String order) {
      return Mono.just(Leases.current().lock());
    }

    @Override
    public void nightly(String order) {
      runs.incrementAndGet();
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class Handlers {
    /** Knows the methods as the interface has them, and the handler's proxy as its class has. */
    @Bean
    @SuppressWarnings("unchecked")
    Handler<String> timed(StringHandler handler) {
      ProxyFactory factory =
          new ProxyFactory(Handler.class, (MethodInterceptor) MethodInvocation::proceed);
      factory.setTarget(handler);
      return (Handler<String>) factory.getProxy();
    }
  }

  @Test
  void aMethodOfAGenericInterfaceTakesItsLockOnce() {
    StringHandler target = new StringHandler();
    TestClients.application()
        .withBean(StringHandler.class, () -> target)
        .withUserConfiguration(Handlers.class)
        .run(
            context -> {
              @SuppressWarnings("unchecked")
              Handler<String> timed = context.getBean("timed", Handler.class);

              assertThat(timed.blocking("a")).isEqualTo("orders");
              assertThat(timed.stage("a").get(10, TimeUnit.SECONDS)).isEqualTo("orders");
              assertThat(timed.mono("a").block(Duration.ofSeconds(10))).isEqualTo("orders");
              timed.nightly("a");
              assertThat(target.runs).hasValue(1);
            });
  }

  @EnableAsync
  @Configuration(proxyBeanMethods = false)
  static class LaterKnown {
    @Bean
    ProxiedTwiceTest.Service alias(@Lazy @Qualifier("service") ProxiedTwiceTest.Service service) {
      return service;
    }
  }

  @Test
  void aBeanThatIsAnotherOneWhichIsFoundAtTheCallTakesItsLocksOnce() {
    ProxiedTwiceTest.Service target = new ProxiedTwiceTest.Service();
    TestClients.application()
        .withBean("service", ProxiedTwiceTest.Service.class, () -> target)
        .withUserConfiguration(LaterKnown.class)
        .withPropertyValues("pawl.url=memory:later-known") // held for as long as minHold
        .run(
            context -> {
              ProxiedTwiceTest.Service alias =
                  context.getBean("alias", ProxiedTwiceTest.Service.class);

              assertThat(alias.blocking()).isEqualTo("orders");
              assertThat(alias.stage().get(10, TimeUnit.SECONDS)).isEqualTo("orders");
              assertThat(alias.async().get(10, TimeUnit.SECONDS)).isEqualTo("orders");
              assertThat(alias.mono().block(Duration.ofSeconds(10))).isEqualTo("orders");
              assertThat(alias.flux().blockLast(Duration.ofSeconds(10))).isEqualTo("orders");
              alias.nightly();
              assertThat(target.runs).hasValue(1);
              alias.asynchronous();
              await().atMost(Duration.ofSeconds(10)).until(() -> target.runs.get() == 2);
            });
  }

  static class Job {

    final AtomicInteger runs = new AtomicInteger();

    @ScheduledOnce(name = "inherited", minHold = "1m")
    public void run() {
      runs.incrementAndGet();
    }
  }

  @Async
  static class AsyncJob extends Job {}

  @EnableAsync
  @Configuration(proxyBeanMethods = false)
  static class AsyncJobs {
    @Bean
    AsyncJob alias(@Qualifier("job") AsyncJob job) {
      return job;
    }
  }

  @Test
  void aJobRunsThatAnAsynchronousClassInherits() {
    AsyncJob target = new AsyncJob();
    TestClients.application()
        .withBean("job", AsyncJob.class, () -> target)
        .withUserConfiguration(AsyncJobs.class)
        .withPropertyValues("pawl.url=memory:inherited") // held for as long as minHold
        .run(
            context -> {
              context.getBean("alias", AsyncJob.class).run();

              await().atMost(Duration.ofSeconds(10)).until(() -> target.runs.get() == 1);
            });
  }

  interface Import {
    @Async
    @Locked("import")
    CompletableFuture<Boolean> run();
  }

  @EnableAsync
  @Configuration(proxyBeanMethods = false)
  static class Adapted {
    /** Of other methods, some of which the proxy behind has locks for. */
    @Bean
    Import adapter(@Qualifier("orders") Orders orders) {
      MethodInterceptor advice =
          call -> CompletableFuture.completedFuture(orders.other().inspect("import").isHeld());
      ProxyFactory factory = new ProxyFactory(Import.class, advice);
      factory.setTarget(orders);
      return (Import) factory.getProxy();
    }
  }

  @Test
  void anAsynchronousCallThatBecomesAnotherOneTakesItsLock() {
    TestClients.application()
        .withBean("orders", Orders.class, () -> new Orders(clients.other()))
        .withUserConfiguration(Adapted.class)
        .run(
            context ->
                assertThat(context.getBean(Import.class).run().get(10, TimeUnit.SECONDS)).isTrue());
  }

  static class LosesItsLock {

    private final Pawl other;
    private final AtomicInteger runs = new AtomicInteger();
    private final AtomicInteger runsWithoutLock = new AtomicInteger();

    LosesItsLock(Pawl other) {
      this.other = other;
    }

    @Retryable(maxRetries = 1, delay = 1)
    @Locked(name = "lost", lease = "1s")
    public void run() {
      Lease lease = Leases.current();
      runs.incrementAndGet();
      runsWithoutLock.addAndGet(lease.isValid() ? 0 : 1);
      other.evict("lost", lease.token());
      await().atMost(Duration.ofSeconds(10)).until(() -> !lease.isValid());
      throw new IllegalStateException("fails");
    }
  }

  @EnableResilientMethods
  @Configuration(proxyBeanMethods = false)
  static class Losing {
    @Bean
    LosesItsLock alias(@Qualifier("losing") LosesItsLock losing) {
      return losing;
    }
  }

  @Test
  void aCallIsNotTriedAgainUnderALockThatWasLost() {
    LosesItsLock target = new LosesItsLock(clients.other());
    TestClients.application()
        .withBean("losing", LosesItsLock.class, () -> target)
        .withUserConfiguration(Losing.class)
        .run(
            context -> {
              LosesItsLock alias = context.getBean("alias", LosesItsLock.class);

              assertThatThrownBy(alias::run).isInstanceOf(Exception.class);
              assertThat(target.runs).hasValue(2);
              assertThat(target.runsWithoutLock).hasValue(0);
            });
  }
}
