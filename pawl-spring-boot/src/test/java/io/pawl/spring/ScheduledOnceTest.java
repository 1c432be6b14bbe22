package io.pawl.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.pawl.Lease;
import io.pawl.error.RunTooLongException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

class ScheduledOnceTest {

  private final TestClients clients = new TestClients();

  @AfterEach
  void close() {
    clients.close();
  }

  static class Jobs {

    private final AtomicInteger runs = new AtomicInteger();

    int runs() {
      return runs.get();
    }

    @ScheduledOnce("plain")
    public void plain() {
      runs.incrementAndGet();
      assertThat(Leases.current().lock()).isEqualTo("plain");
    }

    @ScheduledOnce(name = "held", minHold = "1h")
    public void heldOn() {
      runs.incrementAndGet();
    }

    @ScheduledOnce(name = "bounded", maxRun = "20ms")
    public void bounded() throws InterruptedException {
      new CountDownLatch(1).await();
    }
  }

  @Configuration
  @EnableScheduling
  static class Scheduling {}

  static class Nightly {

    private final AtomicInteger runs = new AtomicInteger();

    int runs() {
      return runs.get();
    }

    @Scheduled(fixedDelay = 5)
    @ScheduledOnce("scheduled")
    public void run() {
      if (Leases.current().isValid()) {
        runs.incrementAndGet();
      }
    }
  }

  private void with(Consumer<Jobs> use) {
    TestClients.application()
        .withBean(Jobs.class)
        .run(context -> use.accept(context.getBean(Jobs.class)));
  }

  @Test
  void aRunThatFindsTheLockBusyIsSkipped() {
    with(
        jobs -> {
          try (Lease elsewhere = clients.other().lock("plain").tryAcquire().orElseThrow()) {
            jobs.plain();
            assertThat(jobs.runs()).isEqualTo(0);
          }
          jobs.plain();
          assertThat(jobs.runs()).isEqualTo(1);
          assertThat(clients.isFree("plain")).isTrue();
        });
  }

  @Test
  void theShortestHoldKeepsASecondRunAway() {
    with(
        jobs -> {
          jobs.heldOn();
          jobs.heldOn();
          assertThat(jobs.runs()).isEqualTo(1);
        });
  }

  @Test
  void aRunThatTakesTooLongIsInterrupted() {
    with(jobs -> assertThatThrownBy(jobs::bounded).isInstanceOf(RunTooLongException.class));
  }

  @Test
  void aScheduleRunsUnderTheLock() {
    TestClients.application()
        .withUserConfiguration(Scheduling.class)
        .withBean(Nightly.class)
        .run(
            context -> {
              Nightly job = context.getBean(Nightly.class);
              await().until(() -> job.runs() > 0);
              await()
                  .until(
                      () -> {
                        try (Lease elsewhere =
                            clients.other().lock("scheduled").tryAcquire().orElse(null)) {
                          return elsewhere != null;
                        }
                      });
            });
  }
}
