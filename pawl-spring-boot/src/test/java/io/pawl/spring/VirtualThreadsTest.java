package io.pawl.spring;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** As with {@code spring.threads.virtual.enabled}; before Java 21 the threads are others. */
class VirtualThreadsTest {

  private static final int THREADS = 50;

  private final AtomicInteger inside = new AtomicInteger();
  private final AtomicInteger most = new AtomicInteger();
  private final AtomicInteger ran = new AtomicInteger();

  static class Shop {
    @Locked("orders")
    public void alone(Runnable body) {
      body.run();
    }
  }

  @Test
  void p1_oneHolder_oneOfManyVirtualThreadsIsInsideOfALockedMethod() {
    TestClients.application()
        .withBean(Shop.class)
        .run(
            context -> {
              Shop shop = context.getBean(Shop.class);
              List<Thread> threads = new ArrayList<>();
              for (int i = 0; i < THREADS; i++) {
                threads.add(started(() -> shop.alone(this::stay)));
              }
              for (Thread thread : threads) {
                thread.join(TimeUnit.SECONDS.toMillis(60));
              }
            });
    assertThat(ran).hasValue(THREADS);
    assertThat(most).hasValue(1);
  }

  private void stay() {
    most.accumulateAndGet(inside.incrementAndGet(), Math::max);
    assertThat(Leases.current().isValid()).isTrue();
    Thread.yield();
    inside.decrementAndGet();
    ran.incrementAndGet();
  }

  private static Thread started(Runnable work) throws ReflectiveOperationException {
    if (Runtime.version().feature() < 21) {
      Thread thread = new Thread(work);
      thread.setDaemon(true);
      thread.start();
      return thread;
    }
    return (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, work);
  }
}
