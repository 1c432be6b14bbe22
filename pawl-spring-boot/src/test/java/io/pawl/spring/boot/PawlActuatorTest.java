package io.pawl.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.micrometer.core.instrument.MeterRegistry;
import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.micrometer.LockGroups;
import io.pawl.servers.RedisServer;
import io.pawl.spring.ScheduledOnce;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.springframework.boot.actuate.autoconfigure.endpoint.EndpointAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.endpoint.jmx.JmxEndpointAutoConfiguration;
import org.springframework.boot.actuate.endpoint.jmx.JmxEndpointsSupplier;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.jmx.JmxAutoConfiguration;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.export.simple.SimpleMetricsExportAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

class PawlActuatorTest {

  private final ApplicationContextRunner application =
      new ApplicationContextRunner()
          .withConfiguration(
              AutoConfigurations.of(
                  PawlAutoConfiguration.class,
                  PawlActuatorAutoConfiguration.class,
                  PawlMetricsAutoConfiguration.class,
                  JmxAutoConfiguration.class,
                  EndpointAutoConfiguration.class,
                  JmxEndpointAutoConfiguration.class,
                  MetricsAutoConfiguration.class,
                  CompositeMeterRegistryAutoConfiguration.class,
                  SimpleMetricsExportAutoConfiguration.class))
          .withPropertyValues(
              "pawl.url=memory:",
              "spring.jmx.enabled=true",
              "management.endpoints.jmx.exposure.include=pawl");

  @Test
  void healthIsUpWhileTheStoreAnswers() {
    application.run(
        context -> {
          var health = context.getBean(PawlHealthIndicator.class).health();
          assertThat(health.getStatus()).isEqualTo(Status.UP);
          assertThat(health.getDetails()).containsKey("client");
        });
  }

  @Test
  void healthIsDownWhileTheStoreDoesNot() {
    RedisServer server = RedisServer.start();
    application
        .withPropertyValues("pawl.url=" + server.url(), "pawl.patience=100ms")
        .run(
            context -> {
              PawlHealthIndicator indicator = context.getBean(PawlHealthIndicator.class);
              assertThat(indicator.health().getStatus()).isEqualTo(Status.UP);
              server.close();
              assertThat(indicator.health().getStatus()).isEqualTo(Status.DOWN);
            });
  }

  static class Nightly {
    @ScheduledOnce(name = "nightly", overdueAfter = "1ms")
    public void run() {}
  }

  @Test
  void healthShowsTheOldestRenewal() throws Exception {
    application.run(
        context -> {
          PawlHealthIndicator indicator = context.getBean(PawlHealthIndicator.class);
          assertThat(indicator.health().getDetails()).doesNotContainKey("oldestRenewal");
          try (Lease lease = context.getBean(Pawl.class).lock("orders:42").acquire()) {
            assertThat(indicator.health().getDetails().get("oldestRenewal"))
                .asString()
                .contains("lock=orders:42", "lease=PT30S");
          }
        });
  }

  @Test
  void healthIsDownWhileAJobIsOverdueAndNamesIt() {
    application
        .withConfiguration(AutoConfigurations.of(LockedAutoConfiguration.class))
        .withBean(Nightly.class)
        .run(
            context -> {
              PawlHealthIndicator indicator = context.getBean(PawlHealthIndicator.class);
              await().until(() -> indicator.health().getStatus().equals(Status.DOWN));
              assertThat(indicator.health().getDetails().get("overdueJobs"))
                  .asString()
                  .contains("job=Nightly.run", "quietFor=");
            });
  }

  @Test
  void theEndpointShowsLocks() {
    application.run(
        context -> {
          Pawl pawl = context.getBean(Pawl.class);
          PawlEndpoint endpoint = context.getBean(PawlEndpoint.class);
          try (Lease lease = pawl.lock("a/b:42").acquire()) {
            assertThat(endpoint.overview(null).locks())
                .containsExactly(new PawlEndpoint.LockSummary("a/b:42", 1, 0, lease.token()));
            assertThat(endpoint.overview(null).figures()).containsKey("bells.missed");
            assertThat(endpoint.show(new String[] {"a", "b:42"}).holders())
                .singleElement()
                .satisfies(holder -> assertThat(holder.token()).isEqualTo(lease.token()));
          }
          assertThat(endpoint.overview(0).locks()).isEmpty();
        });
  }

  private Set<String> operations(ApplicationContextRunner runner) {
    Set<String> names = new java.util.TreeSet<>();
    runner.run(
        context ->
            names.addAll(
                context.getBean(JmxEndpointsSupplier.class).getEndpoints().stream()
                    .flatMap(endpoint -> endpoint.getOperations().stream())
                    .map(operation -> operation.getName())
                    .collect(Collectors.toSet())));
    return names;
  }

  @Test
  void theEndpointOnlyReadsUnlessItIsAllowedToEvict() {
    assertThat(operations(application)).containsExactlyInAnyOrder("overview", "show");
    assertThat(
            operations(
                application.withPropertyValues("management.endpoint.pawl.access=UNRESTRICTED")))
        .containsExactlyInAnyOrder("overview", "show", "evict");
  }

  @Test
  void anEvictionTakesTheLockFromTheHolderWithThatToken() {
    application.run(
        context -> {
          Pawl pawl = context.getBean(Pawl.class);
          PawlEndpoint endpoint = context.getBean(PawlEndpoint.class);
          Lease lease = pawl.lock("orders").acquire();
          assertThat(endpoint.evict(new String[] {"orders"}, lease.token() + 1).evicted())
              .isFalse();
          assertThat(pawl.inspect("orders").isHeld()).isTrue();
          assertThat(endpoint.evict(new String[] {"orders"}, lease.token()).evicted()).isTrue();
          assertThat(pawl.inspect("orders").isHeld()).isFalse();
        });
  }

  @Test
  void overHttpWhatIsUnknownIsNotFoundAndWhatIsInvalidIsABadRequest() {
    application.run(
        context -> {
          PawlWebEndpoint endpoint = new PawlWebEndpoint(context.getBean(PawlEndpoint.class));
          String[] orders = {"orders"};
          assertThat(endpoint.overview(null).getStatus()).isEqualTo(200);
          assertThat(endpoint.show(orders).getStatus()).isEqualTo(404);
          Lease lease = context.getBean(Pawl.class).lock("orders").acquire();
          assertThat(endpoint.show(orders).getStatus()).isEqualTo(200);
          assertThat(endpoint.evict(orders, lease.token() + 1).getStatus()).isEqualTo(404);
          assertThat(endpoint.evict(orders, lease.token()).getStatus()).isEqualTo(200);
          assertThat(endpoint.show(new String[] {"x".repeat(600)}).getStatus()).isEqualTo(400);
        });
  }

  @Test
  void overHttpAStoreThatIsAwayIsAServiceThatIsUnavailable() {
    RedisServer server = RedisServer.start();
    application
        .withPropertyValues(
            "pawl.url=" + server.url(),
            "pawl.patience=100ms",
            "management.endpoints.web.exposure.include=pawl")
        .run(
            context -> {
              PawlWebEndpoint endpoint = context.getBean(PawlWebEndpoint.class);
              assertThat(endpoint.overview(null).getStatus()).isEqualTo(200);
              server.close();
              assertThat(endpoint.show(new String[] {"orders"}).getStatus()).isEqualTo(503);
              assertThat(endpoint.overview(null).getStatus()).isEqualTo(503);
            });
  }

  @Test
  void locksAndFiguresAreMeters() {
    application.run(
        context -> {
          context.getBean(Pawl.class).lock("orders:42").acquire().close();
          MeterRegistry registry = context.getBean(MeterRegistry.class);
          assertThat(registry.get("pawl.lock.wait").tag("group", "orders").timer().count())
              .isEqualTo(1);
          assertThat(registry.get("pawl.store.bells.missed").functionCounter().count()).isZero();
        });
  }

  @Test
  void groupsOfTheApplicationsOwnAreTags() {
    application
        .withBean(LockGroups.class, () -> lock -> "team-a")
        .run(
            context -> {
              context.getBean(Pawl.class).lock("orders:42").acquire().close();
              assertThat(
                      context
                          .getBean(MeterRegistry.class)
                          .get("pawl.lock.wait")
                          .tag("group", "team-a")
                          .timer()
                          .count())
                  .isEqualTo(1);
            });
  }
}
