package io.pawl.engine;

import static org.assertj.core.api.Assertions.assertThatCode;

import io.pawl.concurrent.SystemTime;
import io.pawl.memory.MemoryStore;
import io.pawl.options.LockObserver;
import io.pawl.options.LockOptions;
import io.pawl.spi.LockStore;
import io.pawl.spi.Mode;
import java.lang.reflect.Field;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A wait that ends while the claim under way becomes another one. */
class TimeOutRaceTest {

  private final SystemTime time = new SystemTime("time-out-race");
  private final Engine engine = Engines.over(late(), time);

  @AfterEach
  void close() {
    time.close();
  }

  /** Whose answers are on their way for a moment, and may be for a minute. */
  private static LockStore late() {
    LockStore memory = new MemoryStore();
    Executor later = CompletableFuture.delayedExecutor(1, TimeUnit.MILLISECONDS);
    return (LockStore)
        Proxy.newProxyInstance(
            LockStore.class.getClassLoader(),
            new Class<?>[] {LockStore.class},
            (proxy, method, arguments) ->
                switch (method.getName()) {
                  case "answerTime" -> Duration.ofMinutes(1);
                  case "attempt" ->
                      ((CompletionStage<?>) method.invoke(memory, arguments))
                          .thenApplyAsync(standing -> standing, later);
                  default -> method.invoke(memory, arguments);
                });
  }

  /** Runs something where the thread lets go of it for the n-th time. */
  private static final class Hooked extends ReentrantLock {

    private static final long serialVersionUID = 1;

    private final transient Runnable hook;
    private int left;

    Hooked(int unlocks, Runnable hook) {
      this.left = unlocks;
      this.hook = hook;
    }

    @Override
    public void unlock() {
      boolean now = --left == 0;
      super.unlock();
      if (now) {
        hook.run();
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4})
  void aHolderThatGivesBackBetweenTwoLooksOfAWaiterMakesNoStoreSilent(int look) throws Exception {
    LockOptions unpassed = LockOptions.defaults().localPassing(1, Duration.ZERO);
    QueueKey key = new QueueKey("lock", unpassed, Mode.EXCLUSIVE);
    Requests requests = new Requests(engine, key);
    Loan held = requests.acquire();
    Field mutex = LocalQueue.class.getDeclaredField("mutex");
    mutex.setAccessible(true);
    Runnable release =
        () -> {
          if (held.end()) {
            held.giveBack(true, LockObserver.NONE);
          }
        };
    mutex.set(engine.registry().queueFor(key), new Hooked(look, release));

    assertThatCode(() -> requests.tryAcquire(Duration.ofNanos(1)).ifPresent(Loan::drop))
        .doesNotThrowAnyException();
  }
}
