package io.pawl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNoException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.pawl.concurrent.SerialExecutor;
import io.pawl.concurrent.Uninterruptibly;
import io.pawl.engine.Event;
import io.pawl.error.LeaseLostException;
import io.pawl.memory.MemoryStore;
import io.pawl.options.LockObserver;
import io.pawl.options.LockOptions;
import io.pawl.options.PawlOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Users' executors, observers and bodies that throw what nobody expects, or block. */
class UsersExecutorTest {

  private final MemoryStore store = new MemoryStore();
  private final Pawl other = Pawl.over(store);

  @AfterEach
  void close() {
    other.close(Duration.ZERO);
  }

  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
  private static <X extends Throwable> RuntimeException undeclared() throws X {
    throw (X) new Exception("checked, as other languages throw it");
  }

  private static RuntimeException checked() {
    return UsersExecutorTest.<RuntimeException>undeclared();
  }

  @Test
  void anExecutorThatFailsLosesNoCompletion() throws Exception {
    PawlOptions failing =
        PawlOptions.defaults()
            .executor(
                task -> {
                  throw new IllegalStateException("a bug in the executor");
                });
    try (Pawl pawl = Pawl.over(store, failing)) {
      Lease held = other.lock("lock").acquire();
      CompletableFuture<Lease> waiting = pawl.lock("lock").acquireAsync();
      held.close();

      waiting.get(20, TimeUnit.SECONDS).closeAsync().get(20, TimeUnit.SECONDS);
    }
  }

  /** The grant is there before the body can be attached to it. */
  @Test
  void anAsynchronousBodyRunsOnTheExecutorThoughTheLockIsFree() throws Exception {
    PawlOptions elsewhere =
        PawlOptions.defaults()
            .executor(
                task -> {
                  Thread thread = new Thread(task);
                  thread.start();
                  Uninterruptibly.join(thread);
                });
    try (Pawl pawl = Pawl.over(store, elsewhere)) {
      Optional<Thread> ran =
          pawl.lock("lock")
              .callAsync(
                  Duration.ZERO, lease -> CompletableFuture.completedFuture(Thread.currentThread()))
              .get(20, TimeUnit.SECONDS);

      assertThat(ran.orElseThrow()).isNotSameAs(Thread.currentThread());
    }
  }

  @Test
  void p8_nothingLeftBehind_noAsynchronousBodyBeginsAfterItsLeaseWasLost() throws Exception {
    CountDownLatch goOn = new CountDownLatch(1);
    AtomicBoolean began = new AtomicBoolean();
    ExecutorService busy = Executors.newSingleThreadExecutor();
    busy.execute(() -> awaitThat(goOn));
    Pawl pawl = Pawl.over(store, PawlOptions.defaults().executor(busy));
    CompletableFuture<Boolean> ran =
        pawl.lock("lock")
            .runAsync(
                Duration.ZERO,
                lease -> {
                  began.set(true);
                  return CompletableFuture.completedFuture("done");
                });

    pawl.close(Duration.ofMillis(100));
    goOn.countDown();

    assertThatThrownBy(() -> ran.get(20, TimeUnit.SECONDS))
        .hasCauseInstanceOf(LeaseLostException.class);
    assertThat(began).isFalse();
    busy.shutdown();
  }

  /** Between the grant and the body the thread may stand still for longer than the lease. */
  @Test
  void p8_nothingLeftBehind_noBodyBeginsAfterItsLeaseWasLost() {
    CountDownLatch lost = new CountDownLatch(1);
    AtomicBoolean began = new AtomicBoolean();
    LockObserver observer =
        new LockObserver() {
          @Override
          public void acquired(String lock, long token, Duration waited, boolean passed) {
            other.evict(lock, token);
            awaitThat(lost);
          }

          @Override
          public void lost(String lock, long token, String why) {
            lost.countDown();
          }
        };
    LockOptions brief = LockOptions.defaults().lease(Duration.ofSeconds(1));
    try (Pawl pawl = Pawl.over(store, PawlOptions.defaults().observer(observer))) {
      assertThatThrownBy(
              () -> pawl.lock("lock", brief).run(Duration.ZERO, lease -> began.set(true)))
          .isInstanceOf(LeaseLostException.class);
    }
    assertThat(began).isFalse();
  }

  private static void awaitThat(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void whatWaitsIsRunThoughAThreadCouldNotBeStartedOnce() {
    AtomicBoolean failed = new AtomicBoolean();
    List<String> ran = new ArrayList<>();
    SerialExecutor serial =
        new SerialExecutor(
            task -> {
              if (!failed.getAndSet(true)) {
                throw new OutOfMemoryError("no thread");
              }
              task.run();
            },
            "tasks");
    assertThatThrownBy(() -> serial.execute(() -> ran.add("first")))
        .isInstanceOf(OutOfMemoryError.class);

    serial.execute(() -> ran.add("second"));

    assertThat(ran).containsExactly("first", "second");
  }

  @Test
  void anObserverThatThrowsWhatItDoesNotDeclareIsHeardOn() throws Exception {
    List<Long> heard = new CopyOnWriteArrayList<>();
    LockObserver observer =
        new LockObserver() {
          @Override
          public void acquired(String lock, long token, Duration waited, boolean passed) {
            heard.add(token);
            throw checked();
          }
        };
    try (Pawl pawl = Pawl.over(store, PawlOptions.defaults().observer(observer))) {
      for (int i = 1; i <= 2; i++) {
        int calls = i;
        pawl.lock("lock").acquireAsync().get(20, TimeUnit.SECONDS).close();
        await().until(() -> heard.size() == calls);
      }
    }
  }

  @Test
  void aCallbackThatThrowsWhatItDoesNotDeclareKeepsTheNewsFromNoOther() {
    List<String> told = new ArrayList<>();
    Event event = new Event("event", Runnable::run);
    event.call(
        () -> {
          throw checked();
        });
    event.call(() -> told.add("second"));

    assertThat(event.happen(null)).isCompleted();

    assertThat(told).containsExactly("second");
  }

  /** Nor does a logger that asks it for its message write it down. */
  private static final class Unspeakable extends RuntimeException {
    @Override
    public String getMessage() {
      throw new IllegalStateException("has no message");
    }
  }

  @Test
  void p5_lossIsTold_aCallbackThatThrowsWhatCannotBeLoggedKeepsTheNewsFromNoOther() {
    List<String> told = new ArrayList<>();
    Event event = new Event("event", Runnable::run);
    event.call(
        () -> {
          throw new Unspeakable();
        });
    event.call(() -> told.add("second"));

    assertThat(event.happen(null)).isCompleted();

    assertThat(told).containsExactly("second");
  }

  @Test
  void anObserverThatThrowsWhatCannotBeLoggedIsHeardOn() throws Exception {
    List<Long> heard = new CopyOnWriteArrayList<>();
    LockObserver observer =
        new LockObserver() {
          @Override
          public void acquired(String lock, long token, Duration waited, boolean passed) {
            heard.add(token);
            throw new Unspeakable();
          }
        };
    try (Pawl pawl = Pawl.over(store, PawlOptions.defaults().observer(observer))) {
      for (int i = 1; i <= 2; i++) {
        int calls = i;
        pawl.lock("lock").acquireAsync().get(20, TimeUnit.SECONDS).close();
        await().until(() -> heard.size() == calls);
      }
    }
  }

  @Test
  void anExecutorThatThrowsWhatCannotBeLoggedLosesNoCompletion() throws Exception {
    PawlOptions failing =
        PawlOptions.defaults()
            .executor(
                task -> {
                  throw new Unspeakable();
                });
    try (Pawl pawl = Pawl.over(store, failing)) {
      pawl.lock("lock").acquireAsync().get(20, TimeUnit.SECONDS).close();
    }
  }

  private static <X extends Throwable> void throwUndeclared(Throwable checked) throws X {
    @SuppressWarnings("unchecked") // as other languages do
    X undeclared = (X) checked;
    throw undeclared;
  }

  @Test
  void anExecutorThatThrowsWhatItDoesNotDeclareLosesNoCompletion() throws Exception {
    PawlOptions failing =
        PawlOptions.defaults()
            .executor(task -> UsersExecutorTest.<RuntimeException>throwUndeclared(new Exception()));
    try (Pawl pawl = Pawl.over(store, failing)) {
      pawl.lock("lock").acquireAsync().get(20, TimeUnit.SECONDS).close();
    }
  }

  @Test
  void aStageThatFailsWithWhatCannotBeWrittenDownGivesTheLockBack() throws Exception {
    try (Pawl pawl = Pawl.over(store)) {
      CompletableFuture<Void> stage = new CompletableFuture<>();
      CompletableFuture<Boolean> run = pawl.lock("lock").runAsync(Duration.ZERO, lease -> stage);
      await().until(() -> stage.getNumberOfDependents() > 0);

      stage.completeExceptionally(new Unspeakable());

      await().until(run::isCompletedExceptionally);
      assertThat(other.lock("lock").tryAcquire()).isPresent();
    }
  }

  /** Nor does it say what caused it. */
  private static final class Unanswering extends RuntimeException {
    @Override
    public synchronized Throwable getCause() {
      throw new IllegalStateException("has no cause");
    }
  }

  @Test
  void aBodyThatThrowsWhatHasNoCauseToTellEndsItsFuture() {
    RuntimeException thrown = new Unanswering();
    try (Pawl pawl = Pawl.over(store)) {
      CompletableFuture<Boolean> run =
          pawl.lock("lock")
              .runAsync(
                  Duration.ZERO,
                  lease -> {
                    throw thrown;
                  });
      await().until(run::isCompletedExceptionally);
    }
  }

  @Test
  void whoElseHasTheStageOfABodyHearsOfAFailureThatCannotBeWrittenDown() {
    try (Pawl pawl = Pawl.over(store)) {
      CompletableFuture<String> stage = new CompletableFuture<>();
      CompletableFuture<Boolean> heard = stage.handle((value, failure) -> true);
      CompletableFuture<Optional<String>> run =
          pawl.lock("lock").callAsync(Duration.ZERO, lease -> stage);
      await().until(() -> stage.getNumberOfDependents() > 1);

      stage.completeExceptionally(new Unspeakable());

      assertThat(heard).isCompleted();
      await().until(run::isCompletedExceptionally);
    }
  }

  @Test
  void aLeaderThatThrowsWhatCannotBeLoggedStandsAgain() {
    CountDownLatch twice = new CountDownLatch(2);
    try (Pawl pawl = Pawl.over(store)) {
      pawl.election("leader")
          .stand(
              "candidate",
              lease -> {
                twice.countDown();
                throw new Unspeakable();
              });
      await().until(() -> twice.getCount() == 0);
    }
  }

  @Test
  void aTaskThatThrowsWhatCannotBeLoggedDoesNotEndItsSchedule() {
    try (Pawl pawl = Pawl.over(store)) {
      Runnable task =
          pawl.job("job")
              .task(
                  lease -> {
                    throw new Unspeakable();
                  });
      assertThatNoException().isThrownBy(task::run);
    }
  }

  @Test
  void aListenerThatThrowsWhatCannotBeLoggedHearsOfTheNextLeader() throws Exception {
    CountDownLatch twice = new CountDownLatch(2);
    try (Pawl pawl = Pawl.over(store);
        LeaderWatch watch =
            pawl.election("leader")
                .watch(
                    Duration.ofMillis(100),
                    leader -> {
                      twice.countDown();
                      throw new Unspeakable();
                    })) {
      await().until(() -> twice.getCount() == 1);
      try (Lease lease = other.lock("leader").acquire()) {
        await().until(() -> twice.getCount() == 0);
      }
    }
  }

  @Test
  void aBodyThatThrowsWhatItDoesNotDeclareGivesTheLockBack() {
    try (Pawl pawl = Pawl.over(store)) {
      CompletableFuture<Optional<String>> called =
          pawl.lock("lock")
              .callAsync(
                  Duration.ZERO,
                  lease -> {
                    throw checked();
                  });
      await().until(called::isCompletedExceptionally);
      assertThat(other.lock("lock").tryAcquire()).isPresent();
    }
  }

  @Test
  void anObserverThatBlocksKeepsNoLockBusy() throws Exception {
    CountDownLatch goOn = new CountDownLatch(1);
    LockObserver observer =
        new LockObserver() {
          @Override
          public void released(String lock, long token, Duration held) {
            try {
              goOn.await();
            } catch (InterruptedException e) {
              Thread.currentThread().interrupt();
            }
          }
        };
    try (Pawl pawl = Pawl.over(store, PawlOptions.defaults().observer(observer))) {
      Lease lease = pawl.lock("lock").acquire();
      CompletableFuture<Void> closing = CompletableFuture.runAsync(lease::close);

      assertThat(other.lock("lock").tryAcquire(Duration.ofSeconds(20))).isPresent();

      goOn.countDown();
      closing.get(20, TimeUnit.SECONDS);
    }
  }

  @Test
  void anObserverThatBlocksDelaysNoResultOfAnAsynchronousBody() throws Exception {
    CountDownLatch goOn = new CountDownLatch(1);
    LockObserver blocking =
        new LockObserver() {
          @Override
          public void released(String lock, long token, Duration held) {
            Uninterruptibly.await(goOn, Long.MAX_VALUE);
          }
        };
    try (Pawl pawl = Pawl.over(store, PawlOptions.defaults().observer(blocking))) {
      CompletableFuture<Optional<String>> result =
          pawl.lock("lock")
              .callAsync(Duration.ofMinutes(1), lease -> CompletableFuture.completedFuture("done"));

      assertThat(result.get(20, TimeUnit.SECONDS)).contains("done");
    } finally {
      goOn.countDown();
    }
  }

  /** The grant comes while the cancellation is being told. */
  @Test
  void aGrantThatNobodyWaitsForOwesNoShortestHold() throws Exception {
    try (Pawl pawl = Pawl.over(store)) {
      LockOptions anHour = LockOptions.defaults().minHold(Duration.ofHours(1));
      Lease held = other.lock("lock").acquire();
      CompletableFuture<Lease> future = pawl.lock("lock", anHour).acquireAsync();
      await()
          .until(() -> !store.show("lock").toCompletableFuture().join().get().waiters().isEmpty());
      CompletableFuture<Boolean> free = new CompletableFuture<>();
      future.whenComplete(
          (lease, cancelled) -> {
            held.close();
            free.completeAsync(this::becomesFree);
            free.exceptionally(e -> false).join();
          });

      future.cancel(false);

      assertThat(free.get(60, TimeUnit.SECONDS)).isTrue();
    }
  }

  private boolean becomesFree() {
    await().until(() -> other.lock("lock").tryAcquire().isPresent());
    return true;
  }
}
