package io.pawl.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.options.LockObserver;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
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
