package io.pawl.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.concurrent.SystemTime;
import io.pawl.memory.MemoryStore;
import io.pawl.options.LockOptions;
import io.pawl.spi.LockStore;
import io.pawl.spi.Mode;
import java.lang.reflect.Field;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A wait that ends while the grant is on its way from the claim to the queue. */
class LateGrantTest {

  private final SystemTime time = new SystemTime("late-grant");
  private final CompletableFuture<Void> answer = new CompletableFuture<>();
  private final Engine engine = Engines.over(memory(), time);

  @AfterEach
  void close() {
    time.close();
  }

  private LockStore memory() {
    LockStore memory = new MemoryStore();
    return (LockStore)
        Proxy.newProxyInstance(
            LockStore.class.getClassLoader(),
            new Class<?>[] {LockStore.class},
            (proxy, method, arguments) ->
                switch (method.getName()) {
                  case "answerTime" -> Duration.ofMinutes(1);
                  case "attempt" -> {
                    CompletionStage<?> standing =
                        (CompletionStage<?>) method.invoke(memory, arguments);
                    yield answer.thenCompose(nothing -> standing);
                  }
                  default -> method.invoke(memory, arguments);
                });
  }

  /** Says when its thread has let go of it for the first time, and stays there for a while. */
  private static final class Stopping extends ReentrantLock {

    private static final long serialVersionUID = 1;

    private final CountDownLatch letGo = new CountDownLatch(1);
    private final CountDownLatch goOn = new CountDownLatch(1);

    @Override
    public void unlock() {
      super.unlock();
      letGo.countDown();
      try {
        goOn.await();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  @Test
  void aFreeLockIsNotBusyWhileItsGrantIsOnItsWay() throws Exception {
    QueueKey key = new QueueKey("lock", LockOptions.defaults(), Mode.EXCLUSIVE);
    AtomicReference<Object> result = new AtomicReference<>();
    Thread waiter =
        new Thread(
            () -> {
              try {
                result.set(new Requests(engine, key).tryAcquire(Duration.ofNanos(1)));
              } catch (InterruptedException e) {
                result.set(e);
              }
            });
    waiter.start();
    while (waiter.getState() != Thread.State.TIMED_WAITING) {
      Thread.onSpinWait();
    }
    LocalQueue queue = engine.registry().queueFor(key);
    Field claims = LocalQueue.class.getDeclaredField("claims");
    claims.setAccessible(true);
    LiveClaim claim = ((QueueClaims) claims.get(queue)).oldestAsking();
    Field mutex = LiveClaim.class.getDeclaredField("mutex");
    mutex.setAccessible(true);
    Stopping stopping = new Stopping();
    mutex.set(claim, stopping);
    Thread store = new Thread(() -> answer.complete(null));
    store.start();
    stopping.letGo.await();

    assertThat(queue.reply().silentNanos()).isPositive();
    stopping.goOn.countDown();
    waiter.join();
    store.join();
    assertThat(result.get()).asString().startsWith("Optional[");
  }
}
