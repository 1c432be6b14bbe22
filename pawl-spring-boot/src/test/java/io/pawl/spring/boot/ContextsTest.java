package io.pawl.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.options.LockObserver;
import io.pawl.spring.ScheduledOnce;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** Several contexts, and several beans of one type. */
class ContextsTest {

  private final ApplicationContextRunner application =
      new ApplicationContextRunner()
          .withConfiguration(
              AutoConfigurations.of(PawlAutoConfiguration.class, LockedAutoConfiguration.class))
          .withPropertyValues("pawl.url=memory:", "pawl.shutdown-grace=0s");

  @Test
  void theEndOfAChildLeavesTheClientOfItsParentOpen() {
    application.run(
        parent -> {
          Pawl pawl = parent.getBean(Pawl.class);
          application
              .withParent(parent)
              .run(child -> assertThat(child.getBean(Pawl.class)).isSameAs(pawl));
          try (Lease lease = pawl.lock("orders").acquire()) {
            assertThat(lease.isValid()).isTrue();
          }
        });
  }

  static class Nightly {
    @ScheduledOnce(name = "nightly", overdueAfter = "1ms")
    public void run() {}
  }

  static class Weekly {
    @ScheduledOnce(name = "weekly", overdueAfter = "1ms")
    public void run() {}
  }

  @Test
  void theHealthOfAChildIsDownWhileAJobOfItsOwnOrOfItsParentsIsOverdue() {
    ApplicationContextRunner healthy =
        application.withConfiguration(AutoConfigurations.of(PawlActuatorAutoConfiguration.class));
    healthy
        .withBean(Nightly.class)
        .run(
            parent ->
                healthy
                    .withParent(parent)
                    .withBean(Weekly.class)
                    .run(
                        child ->
                            await()
                                .untilAsserted(
                                    () ->
                                        assertThat(
                                                child
                                                    .getBean(PawlHealthIndicator.class)
                                                    .health()
                                                    .getDetails()
                                                    .get("overdueJobs"))
                                            .asString()
                                            .contains("job=Weekly.run", "job=Nightly.run"))));
  }

  @Test
  void aHealthIndicatorOfTheApplicationsOwnInAParentIsItsChildrens() {
    ApplicationContextRunner healthy =
        application.withConfiguration(AutoConfigurations.of(PawlActuatorAutoConfiguration.class));
    HealthIndicator own = () -> Health.up().build();
    healthy
        .withBean("pawlHealthIndicator", HealthIndicator.class, () -> own)
        .run(
            parent ->
                healthy
                    .withParent(parent)
                    .run(child -> assertThat(child.getBean(HealthIndicator.class)).isSameAs(own)));
  }

  @Test
  void anObserverThatFailsInWhateverWayDoesNotKeepOthersFromBeingTold() {
    AtomicInteger told = new AtomicInteger();
    LockObserver failing =
        new LockObserver() {
          @Override
          public void acquired(String lock, long token, Duration waited, boolean passed) {
            throw new AssertionError("of an observer");
          }

          @Override
          public String noteFor(String lock) {
            throw new AssertionError("of an observer");
          }
        };
    LockObserver counting =
        new LockObserver() {
          @Override
          public void acquired(String lock, long token, Duration waited, boolean passed) {
            told.incrementAndGet();
          }

          @Override
          public String noteFor(String lock) {
            return "a trace";
          }
        };
    application
        .withBean("first", LockObserver.class, () -> failing)
        .withBean("second", LockObserver.class, () -> counting)
        .run(
            context -> {
              Pawl pawl = context.getBean(Pawl.class);
              try (Lease held = pawl.lock("orders").acquire()) {
                assertThat(pawl.inspect("orders").holders().get(0).note()).contains("a trace");
              }
              assertThat(told).hasValue(1);
            });
  }
}
