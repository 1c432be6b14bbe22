package io.pawl.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.error.RunTooLongException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.target.SingletonTargetSource;
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

  static class Watched {

    private final CountDownLatch mayEnd = new CountDownLatch(1);

    void end() {
      mayEnd.countDown();
    }

    @ScheduledOnce(name = "quick", overdueAfter = "1h")
    public void quick() {}

    @ScheduledOnce(name = "seldom", overdueAfter = "1ms")
    public void seldom() {}

    @ScheduledOnce(name = "stubborn", maxRun = "1ms")
    public void stubborn() {
      boolean ended = false;
      while (!ended) {
        try {
          mayEnd.await();
          ended = true;
        } catch (InterruptedException e) {
          // goes on, as it should not
        }
      }
    }
  }

  static class Hung {

    private final CountDownLatch mayEnd = new CountDownLatch(1);

    void end() {
      mayEnd.countDown();
    }

    @ScheduledOnce(name = "hung", overdueAfter = "1h")
    public void job() throws InterruptedException {
      mayEnd.await();
    }
  }

  @Test
  void aStartThatIsSkippedForARunOfThisMachineShowsNothing() {
    TestClients.application()
        .withBean(Hung.class)
        .run(
            context -> {
              Hung jobs = context.getBean(Hung.class);
              LockAdvisor advisor = context.getBean(LockAdvisor.class);
              CompletableFuture<Void> run =
                  CompletableFuture.runAsync(
                      () -> {
                        try {
                          jobs.job();
                        } catch (InterruptedException e) {
                          throw new IllegalStateException(e);
                        }
                      });
              await().until(() -> advisor.jobs().get(0).runningFor() != null);
              Duration before = advisor.jobs().get(0).quietFor();

              jobs.job();

              assertThat(advisor.jobs().get(0).quietFor()).isGreaterThan(before);
              jobs.end();
              run.join();
            });
  }

  abstract static class Import {

    public abstract String name();

    @ScheduledOnce(name = "import:#{name()}", overdueAfter = "1h")
    public void run() {}
  }

  static class Orders extends Import {
    @Override
    public String name() {
      return "orders";
    }
  }

  static class Stock extends Import {
    @Override
    public String name() {
      return "stock";
    }
  }

  @Test
  void aJobThatEndsWellSaysNothingOfOneThatHasItsMethodFromTheSameClass() {
    TestClients.application()
        .withBean(Orders.class)
        .withBean(Stock.class)
        .run(
            context -> {
              LockAdvisor advisor = context.getBean(LockAdvisor.class);
              assertThat(advisor.jobs())
                  .extracting(JobState::job)
                  .containsExactly("Orders.run", "Stock.run");
              Duration before = advisor.jobs().get(1).quietFor();

              context.getBean(Orders.class).run();

              assertThat(advisor.jobs().get(0).quietFor())
                  .isLessThan(advisor.jobs().get(1).quietFor());
              assertThat(advisor.jobs().get(1).quietFor()).isGreaterThan(before);
            });
  }

  interface Export {

    String name();

    @ScheduledOnce(name = "export:#{name()}", overdueAfter = "1h")
    default void run() {}
  }

  static class Sales implements Export {
    @Override
    public String name() {
      return "sales";
    }
  }

  static class Returns implements Export {
    @Override
    public String name() {
      return "returns";
    }
  }

  @Test
  void aJobThatEndsWellSaysNothingOfOneThatHasItsMethodFromTheSameInterface() {
    TestClients.application()
        .withBean(Sales.class)
        .withBean(Returns.class)
        .run(
            context -> {
              LockAdvisor advisor = context.getBean(LockAdvisor.class);
              assertThat(advisor.jobs())
                  .extracting(JobState::job)
                  .containsExactly("Returns.run", "Sales.run");
              Duration before = advisor.jobs().get(0).quietFor();

              context.getBean(Sales.class).run();

              assertThat(advisor.jobs().get(1).quietFor())
                  .isLessThan(advisor.jobs().get(0).quietFor());
              assertThat(advisor.jobs().get(0).quietFor()).isGreaterThan(before);
            });
  }

  interface Hourly {

    @ScheduledOnce(name = "hourly", overdueAfter = "1h")
    void run();
  }

  static class Report implements Hourly {
    @Override
    public void run() {}
  }

  @Test
  void aJobWhoseBeanIsAProxyOfSpringsAlreadyIsOne() {
    TestClients.application()
        .withBean(
            Hourly.class,
            () -> ProxyFactory.getProxy(Hourly.class, new SingletonTargetSource(new Report())))
        .run(
            context -> {
              LockAdvisor advisor = context.getBean(LockAdvisor.class);
              Duration before = advisor.jobs().get(0).quietFor();

              context.getBean(Hourly.class).run();

              assertThat(advisor.jobs()).hasSize(1);
              assertThat(advisor.jobs().get(0).quietFor()).isLessThanOrEqualTo(before);
            });
  }

  interface Cleaned {

    @ScheduledOnce(name = "cleaning", overdueAfter = "1h")
    default void clean() {}
  }

  interface OrderTable extends Cleaned {}

  interface CartTable extends Cleaned {}

  @Test
  void aJobThatEndsWellSaysNothingOfOneWhoseBeanWasMadeOfAnotherInterface() {
    TestClients.application()
        .withBean(OrderTable.class, () -> made(OrderTable.class, new OrderTable() {}))
        .withBean(CartTable.class, () -> made(CartTable.class, new CartTable() {}))
        .run(
            context -> {
              LockAdvisor advisor = context.getBean(LockAdvisor.class);
              assertThat(advisor.jobs())
                  .extracting(JobState::job)
                  .containsExactly("CartTable.clean", "OrderTable.clean");

              context.getBean(OrderTable.class).clean();

              assertThat(advisor.jobs().get(1).quietFor())
                  .isLessThan(advisor.jobs().get(0).quietFor());
            });
  }

  @Test
  void aJobWhoseBeanIsALambdaIsOne() {
    TestClients.application()
        .withBean(Hourly.class, () -> () -> {})
        .run(
            context -> {
              context.getBean(Hourly.class).run();

              assertThat(context.getBean(LockAdvisor.class).jobs())
                  .extracting(JobState::job)
                  .containsExactly("Hourly.run");
            });
  }

  interface Overriding extends Cleaned {
    @Override
    default void clean() {}
  }

  @Test
  void aJobThatAnInterfaceOverridesIsOne() {
    TestClients.application()
        .withBean(Overriding.class, () -> made(Overriding.class, new Overriding() {}))
        .run(
            context -> {
              context.getBean(Overriding.class).clean();

              assertThat(context.getBean(LockAdvisor.class).jobs())
                  .extracting(JobState::job)
                  .containsExactly("Overriding.clean");
            });
  }

  private static <T> T made(Class<T> of, T target) {
    return ProxyFactory.getProxy(of, new SingletonTargetSource(target));
  }

  private static JobState state(LockAdvisor advisor, String job) {
    return advisor.jobs().stream()
        .filter(each -> each.job().equals("Watched." + job))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void aJobIsOverdueWhenItHasNotEndedWellForTooLongOrGoesOnPastItsLimit() {
    TestClients.application()
        .withBean(Watched.class)
        .run(
            context -> {
              Watched jobs = context.getBean(Watched.class);
              LockAdvisor advisor = context.getBean(LockAdvisor.class);
              jobs.quick();
              assertThat(state(advisor, "quick").overdue()).isFalse();
              await().until(() -> state(advisor, "seldom").overdue());
              assertThat(state(advisor, "stubborn").runningFor()).isNull();

              CompletableFuture<Void> run = CompletableFuture.runAsync(jobs::stubborn);
              await().until(() -> state(advisor, "stubborn").overdue());
              jobs.end();
              assertThatThrownBy(run::join).hasCauseInstanceOf(RunTooLongException.class);
              assertThat(state(advisor, "stubborn").overdue()).isFalse();
            });
  }

  @Test
  void aStartThatIsSkippedShowsThatTheJobRunsElsewhereAndAFailureDoesNot() {
    LockedMethod.Job times =
        new LockedMethod.Job(Duration.ZERO, null, Duration.ofNanos(10), new JobWatch(100));
    JobWatch watch = times.watch();
    assertThat(watch.state("job", times, 110).overdue()).isFalse();
    assertThat(watch.state("job", times, 111).overdue()).isTrue();
    watch.ended(watch.begun(112));
    assertThat(watch.state("job", times, 113).overdue()).isTrue();
    Object run = watch.begun(114);
    watch.skipped(115, Duration.ZERO);
    assertThat(watch.state("job", times, 116).overdue()).isTrue(); // that run is this machine's
    watch.ended(run);
    watch.skipped(120, Duration.ofNanos(7));
    assertThat(watch.state("job", times, 121).overdue())
        .isTrue(); // that run still keeps others away
    watch.skipped(121, Duration.ofNanos(7));
    assertThat(watch.state("job", times, 131).overdue()).isFalse();
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

  /** A scheduler starts what was due as the context closed, after the client. */
  @Test
  void aRunThatBeginsAfterTheEndIsSkipped() {
    TestClients.application()
        .withBean(Jobs.class)
        .run(
            context -> {
              context.getBean(Pawl.class).close();

              context.getBean(Jobs.class).plain();

              assertThat(context.getBean(Jobs.class).runs()).isZero();
            });
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

  interface Sent<T> {

    void send(T report);
  }

  interface Mailed extends Sent<String> {

    @Override
    @ScheduledOnce(name = "mail", overdueAfter = "1h")
    void send(String report);
  }

  @Test
  void aJobThatAnInterfaceHasFromAGenericOneIsOne() {
    TestClients.application()
        .withBean(Mailed.class, () -> made(Mailed.class, new Mailer()))
        .run(
            context -> {
              Sent<String> sent = context.getBean(Mailed.class);
              sent.send("sales");

              assertThat(context.getBean(LockAdvisor.class).jobs())
                  .extracting(JobState::job)
                  .containsExactly("Mailed.send");
            });
  }

  private static final class Mailer implements Mailed {

    @Override
    public void send(String report) {}
  }
}
