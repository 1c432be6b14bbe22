package io.pawl;

import static io.pawl.ScriptedStore.held;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.pawl.concurrent.SystemTime;
import io.pawl.concurrent.Time;
import io.pawl.concurrent.Workers;
import io.pawl.engine.Engine;
import io.pawl.options.LockObserver;
import io.pawl.options.LockOptions;
import io.pawl.options.PawlOptions;
import io.pawl.spi.Claim;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.AbstractOwnableSynchronizer;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** An interrupt that comes between a grant and the word of it. */
class RacedGrantTest {

  private static final Duration LONG = Duration.ofDays(1);
  private static final String OF_LOCK = "io.pawl.engine.Loan.<init>";
  private static final String OF_GROUP = "io.pawl.engine.GroupAcquisition.complete";

  private final ScriptedStore store = new ScriptedStore();
  private final SystemTime clock = new SystemTime("timer");
  private final Workers workers = Workers.pools("workers", null, clock);
  private final AtomicBoolean raced = new AtomicBoolean();
  private final CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
  private Thread waiter = new Thread();

  /**
   * In the midst of a grant the engine asks the one for the time, for its observer, and cancels the
   * other.
   */
  private Time interruptingAmid(String grant) {
    return new Time() {
      @Override
      public long nanos() {
        if (grant.equals(OF_LOCK)) {
          interruptIn(grant);
        }
        return clock.nanos();
      }

      @Override
      public Pending after(long delayNanos, Runnable task) {
        Pending pending = clock.after(delayNanos, task);
        return () -> {
          if (grant.equals(OF_GROUP)) {
            interruptIn(grant);
          }
          pending.cancel();
        };
      }
    };
  }

  /** Returns when the waiter stands before the lock under which the grant is made. */
  private void interruptIn(String method) {
    if (!raced.get()
        && Thread.currentThread() != waiter
        && StackWalker.getInstance()
            .walk(frames -> frames.anyMatch(frame -> nameOf(frame).equals(method)))
        && raced.compareAndSet(false, true)) {
      waiter.interrupt();
      await().until(() -> LockSupport.getBlocker(waiter) instanceof AbstractOwnableSynchronizer);
    }
  }

  private static String nameOf(StackWalker.StackFrame frame) {
    return frame.getClassName() + '.' + frame.getMethodName();
  }

  private Engine engine(String grant) {
    store.answerTime = LONG;
    PawlOptions observed = PawlOptions.defaults().observer(new LockObserver() {});
    return new Engine(store, observed, interruptingAmid(grant), workers, new Random(1), "client");
  }

  private void interruptAmidTheGrantsOf(int locks, Callable<?> request) throws Exception {
    CountDownLatch asked = new CountDownLatch(locks);
    store.asked = claim -> asked.countDown();
    store.withdrawal = new CompletableFuture<>();
    waiter =
        new Thread(
            () -> {
              try {
                request.call();
                interrupted.complete(false);
              } catch (InterruptedException e) {
                interrupted.complete(!Thread.currentThread().isInterrupted());
              } catch (Exception e) {
                interrupted.completeExceptionally(e);
              }
            });
    waiter.start();
    asked.await();
    await().until(this::waits);
    for (int i = 0; i < locks; i++) {
      store.attempt(i).answer().complete(held(1));
    }
    await().untilTrue(raced);
    await().until(() -> store.withdrawals.size() == locks);
  }

  private boolean waits() {
    Thread.State state = waiter.getState();
    return state == Thread.State.WAITING || state == Thread.State.TIMED_WAITING;
  }

  private void isToldWhenTheStoreKnows() {
    await().during(Duration.ofMillis(200)).until(() -> !interrupted.isDone());
    store.withdrawal.complete(null);
    assertThat(interrupted.join()).isTrue();
  }

  @AfterEach
  void close() {
    workers.shutdown();
    clock.close();
  }

  @Test
  void ofALockIsToldWhenTheStoreKnowsThatItIsGivenBack() throws Exception {
    DistributedLock lock = new DistributedLock(engine(OF_LOCK), "a", LockOptions.defaults());

    interruptAmidTheGrantsOf(1, () -> lock.tryAcquire(LONG));

    isToldWhenTheStoreKnows();
  }

  @Test
  void ofAGroupIsToldWhenTheStoreKnowsThatAllOfItIsGivenBack() throws Exception {
    LockGroup group = new LockGroup(engine(OF_GROUP), List.of("a", "b"), LockOptions.defaults());

    interruptAmidTheGrantsOf(2, () -> group.tryAcquire(LONG));

    isToldWhenTheStoreKnows();
    assertThat(store.withdrawals).extracting(Claim::lock).containsExactlyInAnyOrder("a", "b");
  }
}
