package io.pawl.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.concurrent.SystemTime;
import io.pawl.concurrent.Uninterruptibly;
import io.pawl.options.LockOptions;
import io.pawl.spi.Mode;
import java.lang.reflect.Field;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A wait that ends while the grant is on its way from the claim to the queue. */
class LateGrantTest {

  private final SystemTime time = new SystemTime("late-grant");
  private final CompletableFuture<Void> answer = new CompletableFuture<>();
  private final Engine engine = Engines.over(Engines.memory(this::late), time);

  @AfterEach
  void close() {
    time.close();
  }

  private Object late(String verb, Callable<Object> usual) throws Exception {
    return switch (verb) {
      case "answerTime" -> Duration.ofMinutes(1);
      case "attempt" -> {
        CompletionStage<?> standing = (CompletionStage<?>) usual.call();
        yield answer.thenCompose(nothing -> standing);
      }
      default -> usual.call();
    };
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
    CountDownLatch letGo = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    HookedLock.after(
        claim,
        () -> {
          letGo.countDown();
          Uninterruptibly.await(goOn, TimeUnit.MINUTES.toNanos(1));
        });
    Thread store = new Thread(() -> answer.complete(null));
    store.start();
    letGo.await();

    assertThat(queue.reply().silentNanos()).isPositive();
    goOn.countDown();
    waiter.join();
    store.join();
    assertThat(result.get()).asString().startsWith("Optional[");
  }
}
