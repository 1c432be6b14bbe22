package io.pawl.tck.lock;

import static io.pawl.tck.rig.Bench.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.pawl.DistributedLock;
import io.pawl.GroupLease;
import io.pawl.Lease;
import io.pawl.error.LeaseLostException;
import io.pawl.options.LockOptions;
import io.pawl.tck.rig.Bench;
import io.pawl.tck.rig.Bench.Running;
import io.pawl.tck.rig.FaultyStore.Fault;
import io.pawl.tck.rig.FaultyStore.Verb;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Waits without a thread, bodies that end with a stage, and waits that heed no interrupt. */
public abstract class AsyncCases extends LockCases {

  private static final Duration PATIENT = Duration.ofSeconds(20);

  protected AsyncCases(Bench bench) {
    super(bench);
  }

  private static <T> T result(CompletableFuture<T> future) throws Exception {
    return future.get(Bench.PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
  }

  private static @Nullable Throwable failure(CompletableFuture<?> future) {
    Throwable failed = catchThrowable(() -> result(future));
    assertThat(failed).isInstanceOf(ExecutionException.class);
    return failed.getCause();
  }

  @Test
  void aFutureWaitsForAsLongAsItTakes() throws Exception {
    String lock = bench.lock("future");
    Lease busy = lockThere(lock).acquire();
    CompletableFuture<Lease> future = lockHere(lock).acquireAsync();
    eventually(() -> network.answers(Verb.ATTEMPT) > 0);
    assertThat(future).isNotDone();
    busy.close();
    try (Lease lease = result(future)) {
      assertThat(lease.isValid()).isTrue();
      assertThat(lease.token()).isGreaterThan(busy.token());
    }
  }

  @Test
  void aCancelledFutureLeavesTheLine() throws Exception {
    String lock = bench.lock("cancelled");
    Lease busy = lockThere(lock).acquire();
    CompletableFuture<Lease> future = lockHere(lock).acquireAsync();
    eventually(() -> network.answers(Verb.ATTEMPT) > 0);
    assertThat(future.cancel(true)).isTrue();
    assertLeftTheLine(1);
    busy.close();
    assertComesFree(lock);
  }

  @Test
  void groupsAreWaitedForWithoutAThreadToo() throws Exception {
    String a = bench.lock("a");
    Lease busy = lockThere(a).acquire();
    CompletableFuture<GroupLease> group = here.lockAll(a, bench.lock("b")).acquireAsync();
    assertThat(group).isNotDone();
    busy.close();
    result(group).close();
    assertComesFree(a);
  }

  @Test
  void anUninterruptibleWaitKeepsTheInterrupt() throws Exception {
    String lock = bench.lock("uninterruptible");
    Lease busy = lockThere(lock).acquire();
    Running<Boolean> running =
        standInLine(
            () -> {
              try (Lease lease = lockHere(lock).acquireUninterruptibly()) {
                return lease.isValid() && Thread.currentThread().isInterrupted();
              }
            });
    running.thread().interrupt();
    assertThat(lockThere(lock).tryAcquire()).isEmpty();
    assertThat(running.task()).isNotDone();
    busy.close();
    assertThat(running.result()).isTrue();
  }

  @Test
  void aBodyHoldsTheLockUntilItsStageCompletes() throws Exception {
    String lock = bench.lock("stage");
    CompletableFuture<String> work = new CompletableFuture<>();
    CountDownLatch began = new CountDownLatch(1);
    CompletableFuture<Optional<String>> called =
        lockHere(lock)
            .callAsync(
                PATIENT,
                lease -> {
                  began.countDown();
                  return work;
                });
    assertThat(began.await(Bench.PATIENCE.toMillis(), TimeUnit.MILLISECONDS)).isTrue();
    assertThat(lockThere(lock).tryAcquire()).isEmpty();
    assertThat(result(lockThere(lock).runAsync(Duration.ZERO, lease -> work))).isFalse();
    assertThat(called).isNotDone();
    work.complete("done");
    assertThat(result(called)).contains("done");
    assertThat(lockThere(lock).tryAcquire()).isPresent();
  }

  @Test
  void theLockIsGivenBackHoweverTheStageEnds() throws Exception {
    String lock = bench.lock("ends");
    DistributedLock here = lockHere(lock);
    IOException fault = new IOException("the body's own");
    IllegalStateException thrown = new IllegalStateException("thrown");
    assertThat(failure(here.runAsync(PATIENT, lease -> CompletableFuture.failedFuture(fault))))
        .isSameAs(fault);
    assertThat(
            failure(
                here.runAsync(
                    PATIENT,
                    lease -> {
                      throw thrown;
                    })))
        .isSameAs(thrown);
    assertThat(
            failure(
                here.callAsync(PATIENT, lease -> CompletableFuture.<String>completedFuture(null))))
        .isInstanceOf(NullPointerException.class);
    assertThat(result(here.runAsync(PATIENT, lease -> CompletableFuture.runAsync(() -> {}))))
        .isTrue();
    assertThat(lockThere(lock).tryAcquire()).isPresent();
  }

  @Test
  void aLossIsToldThoughTheStageSucceeded() throws Exception {
    String lock = bench.lock("lostStage");
    DistributedLock here = this.here.lock(lock, bench.shortLived());
    network.on(Verb.RENEW, Fault.LOSE_REQUEST);
    CompletableFuture<Boolean> ran =
        here.runAsync(
            PATIENT,
            lease -> {
              CompletableFuture<Void> lost = new CompletableFuture<>();
              lease.onLost(() -> lost.complete(null));
              return lost;
            });
    assertThat(failure(ran)).isInstanceOf(LeaseLostException.class);
    network.on(Verb.RENEW, Fault.NONE);
    assertComesFree(lock);
  }

  @Test
  void nothingInterruptsAnAsynchronousBody() throws Exception {
    // long enough for the body to begin, on a thread of its own
    LockOptions lasting = LockOptions.defaults().lease(bench.shortLease().multipliedBy(5));
    DistributedLock lock = here.lock(bench.lock("uninterrupted"), lasting);
    CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
    network.on(Verb.RENEW, Fault.LOSE_REQUEST);
    CompletableFuture<Boolean> ran =
        lock.runAsync(
            PATIENT,
            lease -> {
              while (lease.isValid()) {
                Thread.onSpinWait();
              }
              interrupted.complete(Thread.interrupted());
              return CompletableFuture.completedFuture(null);
            });
    assertThat(failure(ran)).isInstanceOf(LeaseLostException.class);
    assertThat(interrupted).isCompletedWithValue(false);
  }

  @Test
  void aCancelledRunLeavesTheLineAndTheBodyThatRunsKeepsTheLock() throws Exception {
    String lock = bench.lock("cancelledRun");
    Lease busy = lockThere(lock).acquire();
    CompletableFuture<Boolean> waiting =
        lockHere(lock).runAsync(PATIENT, lease -> CompletableFuture.runAsync(() -> {}));
    eventually(() -> network.answers(Verb.ATTEMPT) > 0);
    waiting.cancel(false);
    assertLeftTheLine(1);
    busy.close();
    CompletableFuture<Void> work = new CompletableFuture<>();
    CountDownLatch began = new CountDownLatch(1);
    CompletableFuture<Boolean> running =
        lockHere(lock)
            .runAsync(
                PATIENT,
                lease -> {
                  began.countDown();
                  return work;
                });
    assertThat(began.await(Bench.PATIENCE.toMillis(), TimeUnit.MILLISECONDS)).isTrue();
    running.cancel(false);
    assertThat(lockThere(lock).tryAcquire()).isEmpty();
    assertThat(work).isNotDone();
    work.complete(null);
    assertComesFree(lock);
  }
}
