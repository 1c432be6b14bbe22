package io.pawl.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.SmartLifecycle;

/** A client that is made by what needs it first, while Spring makes other beans under its lock. */
@Timeout(value = 1, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LazyClientTest {

  private final TestClients clients = new TestClients();

  @AfterEach
  void close() {
    clients.close();
  }

  private static ApplicationContextRunner application() {
    return TestClients.application()
        .withInitializer(
            context ->
                context.addBeanFactoryPostProcessor(
                    new LazyInitializationBeanFactoryPostProcessor()));
  }

  private static Thread started(Runnable body) {
    Thread thread = new Thread(body);
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  private static void awaitWaiting(Thread thread) {
    await().until(() -> thread.getState() == Thread.State.WAITING);
  }

  static class Shop {
    @Locked("orders")
    public String ship() {
      return Leases.current().lock();
    }
  }

  /** Locks as it is made, when the first call of another thread waits for Spring's lock. */
  static class LocksAsItIsMade {

    private final String lock;

    LocksAsItIsMade(Shop shop) {
      awaitWaiting(started(shop::ship));
      lock = shop.ship();
    }
  }

  @Test
  void aBeanMayLockAsItIsMadeThoughAnotherThreadsFirstCallWaitsForTheClient() {
    application()
        .withBean(Shop.class)
        .withBean(LocksAsItIsMade.class)
        .run(
            context -> {
              assertThat(context.getBean(Shop.class)).isNotNull();
              assertThat(context.getBean(LocksAsItIsMade.class).lock).isEqualTo("orders");
            });
  }

  static class Leading {
    @Leader("shipping")
    void lead() throws InterruptedException {
      new CountDownLatch(1).await();
    }
  }

  static class LeadingLate {
    @Leader("late")
    void lead() throws InterruptedException {
      new CountDownLatch(1).await();
    }
  }

  /** Makes a leader when the start of the application waits for Spring's lock. */
  static class MakesALeader {
    MakesALeader(Serving serving, ObjectProvider<LeadingLate> late) {
      serving.others.countDown();
      awaitWaiting(serving.starting);
      late.getObject();
    }
  }

  /** A server whose first request comes before the leaders stand. */
  static class Serving implements SmartLifecycle {

    private final ObjectProvider<MakesALeader> first;
    private final Thread starting = Thread.currentThread();
    private final CountDownLatch others = new CountDownLatch(1);
    private volatile boolean running;

    Serving(ObjectProvider<MakesALeader> first) {
      this.first = first;
    }

    @Override
    public void start() {
      running = true;
      started(first::getObject);
      while (others.getCount() > 0) { // as no thread that waits
        Thread.onSpinWait();
      }
    }

    @Override
    public void stop() {
      running = false;
    }

    @Override
    public boolean isRunning() {
      return running;
    }

    @Override
    public int getPhase() {
      return SmartLifecycle.DEFAULT_PHASE - 2048;
    }
  }

  @Test
  void leadersStandThoughAnotherOneIsMadeWhileTheStartWaitsForTheClient() {
    application()
        .withBean(Leading.class)
        .withBean(LeadingLate.class, LeadingLate::new, bean -> bean.setLazyInit(true))
        .withBean(MakesALeader.class)
        .withBean(Serving.class)
        .run(
            context -> await().until(() -> !clients.isFree("shipping") && !clients.isFree("late")));
  }
}
