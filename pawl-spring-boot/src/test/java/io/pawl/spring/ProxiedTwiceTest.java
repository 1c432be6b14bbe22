package io.pawl.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.pawl.Lease;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.Pointcut;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.support.ComposablePointcut;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** A bean that is another bean is proxied twice. */
class ProxiedTwiceTest {

  static class Service {

    final AtomicInteger runs = new AtomicInteger();
    final AtomicInteger led = new AtomicInteger();

    int runs() {
      return runs.get();
    }

    int led() {
      return led.get();
    }

    @Locked(name = "orders", waitAtMost = "1s")
    public String blocking() {
      return Leases.current().lock();
    }

    @Locked(name = "orders", waitAtMost = "1s")
    public CompletableFuture<String> stage() {
      return CompletableFuture.completedFuture(Leases.current().lock());
    }

    @Locked(name = "orders", waitAtMost = "1s")
    public Mono<String> mono() {
      return Mono.just(Leases.current().lock());
    }

    @Async
    @Locked(name = "orders", waitAtMost = "1s")
    public CompletableFuture<String> async() {
      return CompletableFuture.completedFuture(Leases.current().lock());
    }

    @Locked(name = "orders", waitAtMost = "1s")
    public Flux<String> flux() {
      return Flux.just(Leases.current().lock());
    }

    @Locked(name = "orders", waitAtMost = "1s")
    public Mono<String> monoLater() {
      return Mono.deferContextual(context -> Mono.just(context.<Lease>get(Lease.class).lock()));
    }

    @Locked(name = "orders", waitAtMost = "1s")
    public Flux<String> fluxLater() {
      return Flux.deferContextual(context -> Mono.just(context.<Lease>get(Lease.class).lock()));
    }

    /** A stage that cannot be made at first. */
    @Retryable(maxRetries = 1, delay = 1)
    @Locked(name = "orders", waitAtMost = "1s")
    public CompletableFuture<String> secondStage() {
      if (runs.incrementAndGet() == 1) {
        throw new IllegalStateException("not yet");
      }
      return CompletableFuture.completedFuture(Leases.current().lock());
    }

    @Retryable(maxRetries = 1, delay = 1)
    @ScheduledOnce("failing")
    public void failing() {
      runs.incrementAndGet();
      throw new IllegalStateException("fails");
    }

    @ScheduledOnce("nightly")
    public void nightly() {
      runs.incrementAndGet();
    }

    @Async
    @ScheduledOnce(name = "asynchronous", minHold = "1m")
    public void asynchronous() {
      runs.incrementAndGet();
    }

    @Leader("shipping")
    public void ship() {
      led.incrementAndGet();
    }
  }

  @EnableAsync
  @EnableResilientMethods
  @Configuration(proxyBeanMethods = false)
  static class Beans {
    @Bean
    Service service() {
      return new Service();
    }

    @Bean
    Service alias(@Qualifier("service") Service service) {
      return service;
    }

    @Bean
    Service third(@Qualifier("alias") Service alias) {
      return alias;
    }

    /** With a proxy of the application's own between, that takes no lock. */
    @Bean
    Service between(@Qualifier("service") Service service) {
      ProxyFactory factory = new ProxyFactory();
      factory.setTarget(service);
      factory.setProxyTargetClass(true);
      factory.addAdvice((MethodInterceptor) MethodInvocation::proceed);
      return (Service) factory.getProxy();
    }
  }

  /** As a reactive transaction does, which begins first. */
  @Configuration(proxyBeanMethods = false)
  static class Later {
    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static DefaultPointcutAdvisor later() {
      MethodInterceptor advice =
          call -> {
            MethodInvocation rest = ((ProxyMethodInvocation) call).invocableClone();
            return switch (call.getMethod().getName()) {
              case "monoLater" ->
                  Mono.delay(Duration.ofMillis(1)).flatMap(now -> (Mono<?>) of(rest));
              case "fluxLater" ->
                  Mono.delay(Duration.ofMillis(1)).flatMapMany(now -> (Flux<?>) of(rest));
              default -> call.proceed();
            };
          };
      Pointcut pointcut = new ComposablePointcut(Service.class::isAssignableFrom);
      return new DefaultPointcutAdvisor(pointcut, advice);
    }

    private static Object of(MethodInvocation call) {
      try {
        return call.proceed();
      } catch (Throwable e) {
        throw new AssertionError(e);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"service", "alias", "third", "between"})
  void itsCallsTakeTheLockOnce(String bean) {
    TestClients.application()
        .withUserConfiguration(Beans.class)
        .run(
            context -> {
              Service service = context.getBean(bean, Service.class);

              assertThat(service.blocking()).isEqualTo("orders");
              assertThat(service.stage().get(10, TimeUnit.SECONDS)).isEqualTo("orders");
              assertThat(service.async().get(10, TimeUnit.SECONDS)).isEqualTo("orders");
              assertThat(service.mono().block(Duration.ofSeconds(10))).isEqualTo("orders");
              assertThat(service.flux().blockLast(Duration.ofSeconds(10))).isEqualTo("orders");
            });
  }

  @ParameterizedTest
  @ValueSource(strings = {"service", "alias", "third", "between"})
  void itsPublishersTakeTheLockOnceThoughAdviceGoesOnWithThemLater(String bean) {
    TestClients.application()
        .withUserConfiguration(Beans.class, Later.class)
        .run(
            context -> {
              Service service = context.getBean(bean, Service.class);

              assertThat(service.monoLater().block(Duration.ofSeconds(10))).isEqualTo("orders");
              assertThat(service.fluxLater().blockLast(Duration.ofSeconds(10))).isEqualTo("orders");
            });
  }

  @ParameterizedTest
  @ValueSource(strings = {"service", "alias", "third", "between"})
  void itsJobRuns(String bean) {
    TestClients.application()
        .withUserConfiguration(Beans.class)
        .run(
            context -> {
              context.getBean(bean, Service.class).nightly();

              assertThat(context.getBean("service", Service.class).runs()).isOne();
            });
  }

  @ParameterizedTest
  @ValueSource(strings = {"service", "alias", "third", "between"})
  void itsAsynchronousJobRuns(String bean) {
    TestClients.application()
        .withUserConfiguration(Beans.class)
        .withPropertyValues("pawl.url=memory:asynchronous-" + bean) // held for as long as minHold
        .run(
            context -> {
              context.getBean(bean, Service.class).asynchronous();

              Service service = context.getBean("service", Service.class);
              await().atMost(Duration.ofSeconds(10)).until(() -> service.runs() == 1);
            });
  }

  /** Each proxy tries twice, the inner one under the lock of the outer one. */
  @ParameterizedTest
  @CsvSource({"service, 2", "alias, 4", "third, 8"})
  void aJobThatFailsAgainHasFailed(String bean, int runs) {
    TestClients.application()
        .withUserConfiguration(Beans.class)
        .run(
            context -> {
              assertThatThrownBy(() -> context.getBean(bean, Service.class).failing())
                  .hasMessage("fails");

              assertThat(context.getBean("service", Service.class).runs()).isEqualTo(runs);
            });
  }

  @ParameterizedTest
  @ValueSource(strings = {"alias", "third"})
  void aCallThatIsTriedAgainHasItsLockStill(String bean) {
    TestClients.application()
        .withUserConfiguration(Beans.class)
        .run(
            context -> {
              CompletableFuture<String> stage = context.getBean(bean, Service.class).secondStage();

              assertThat(stage.get(10, TimeUnit.SECONDS)).isEqualTo("orders");
            });
  }

  @Test
  void itLeadsOnce() {
    TestClients.application()
        .withUserConfiguration(Beans.class)
        .run(
            context -> {
              Service service = context.getBean("service", Service.class);
              assertThat(context.getBean("alias")).isNotSameAs(service);
              await().until(() -> service.led() > 0);
              await()
                  .during(Duration.ofMillis(500))
                  .atMost(Duration.ofSeconds(5))
                  .until(() -> service.led() == 1);
            });
  }
}
