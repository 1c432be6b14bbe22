package io.pawl.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
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

    @ScheduledOnce("nightly")
    public void nightly() {
      runs.incrementAndGet();
    }

    @Leader("shipping")
    public void ship() {
      led.incrementAndGet();
    }
  }

  @EnableAsync
  @Configuration(proxyBeanMethods = false)
  static class Beans {
    @Bean
    Service service() {
      return new Service();
    }

    @Bean
    Service alias(Service service) {
      return service;
    }
  }

  @Test
  void itsCallsTakeTheLockOnce() {
    TestClients.application()
        .withUserConfiguration(Beans.class)
        .run(
            context -> {
              Service service = context.getBean("service", Service.class);
              Service alias = context.getBean("alias", Service.class);
              assertThat(alias).isNotSameAs(service);

              assertThat(alias.blocking()).isEqualTo("orders");
              assertThat(alias.stage().get(10, TimeUnit.SECONDS)).isEqualTo("orders");
              assertThat(alias.async().get(10, TimeUnit.SECONDS)).isEqualTo("orders");
              assertThat(alias.mono().block(Duration.ofSeconds(10))).isEqualTo("orders");
              assertThat(service.blocking()).isEqualTo("orders");
            });
  }

  @Test
  void itsJobRuns() {
    TestClients.application()
        .withUserConfiguration(Beans.class)
        .run(
            context -> {
              context.getBean("alias", Service.class).nightly();

              assertThat(context.getBean("service", Service.class).runs()).isOne();
            });
  }

  @Test
  void itLeadsOnce() {
    TestClients.application()
        .withUserConfiguration(Beans.class)
        .run(
            context -> {
              Service service = context.getBean("service", Service.class);
              await().until(() -> service.led() > 0);
              await()
                  .during(Duration.ofMillis(500))
                  .atMost(Duration.ofSeconds(5))
                  .until(() -> service.led() == 1);
            });
  }
}
