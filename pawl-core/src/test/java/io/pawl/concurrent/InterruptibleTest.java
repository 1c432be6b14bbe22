package io.pawl.concurrent;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

class InterruptibleTest {

  private final CompletableFuture<Interruptible> work = new CompletableFuture<>();
  private final CompletableFuture<Boolean> seen = new CompletableFuture<>();

  @Test
  void aThreadThatWaitsForInterruptsIsInterruptedAtOnce() throws Exception {
    Thread worker = start(() -> seen.complete(isInterruptedWithin20Seconds()));
    work.get().interrupt();
    assertThat(seen.get()).isTrue();
    worker.join();
  }

  @Test
  void anInterruptDuringAWaitThatKeepsAnotherOneIsNotMergedWithIt() throws Exception {
    CompletableFuture<Void> waitedFor = new CompletableFuture<>();
    Thread worker =
        start(
            () -> {
              Thread.currentThread().interrupt();
              Uninterruptibly.await(waitedFor, Long.MAX_VALUE);
              assertThat(Thread.interrupted()).as("the first").isTrue();
              seen.complete(isInterruptedWithin20Seconds());
            });
    Interruptible interruptible = work.get();
    Awaitility.await()
        .until(
            () ->
                !worker.isInterrupted()
                    && (worker.getState() == Thread.State.TIMED_WAITING
                        || worker.getState() == Thread.State.WAITING));
    interruptible.interrupt();
    waitedFor.complete(null);
    assertThat(seen.get()).isTrue();
    worker.join();
  }

  /** Whoever interrupts may look just before the wait begins, and act in the midst of it. */
  @Test
  void anInterruptOfOthersSurvivesOursWheneverAWaitBegins() throws Exception {
    for (int round = 0; round < 8_000; round++) {
      Interruptible here = new Interruptible(Runnable::run);
      Thread.currentThread().interrupt();
      Thread other = new Thread(here::interrupt);
      other.start();
      do {
        try (KeptInterrupts kept = new KeptInterrupts()) {
          kept.clear();
        }
      } while (other.isAlive());
      here.end();
      assertThat(Thread.interrupted()).as("round %s", round).isTrue();
      other.join();
    }
  }

  @Test
  void anInterruptDuringAWaitComesWhenThatEnds() throws Exception {
    CompletableFuture<Void> waitedFor = new CompletableFuture<>();
    Thread worker =
        start(
            () -> {
              Uninterruptibly.await(waitedFor, Long.MAX_VALUE);
              seen.complete(isInterruptedWithin20Seconds());
            });
    Interruptible interruptible = work.get();
    Awaitility.await().until(() -> worker.getState() == Thread.State.TIMED_WAITING);
    interruptible.interrupt();
    waitedFor.complete(null);
    assertThat(seen.get()).isTrue();
    worker.join();
  }

  @Test
  void workInsideAWaitThatKeepsInterruptsIsInterruptedAtOnce() throws Exception {
    Thread worker =
        new Thread(
            () -> {
              try (KeptInterrupts outer = new KeptInterrupts()) {
                work.complete(new Interruptible(Runnable::run));
                seen.complete(isInterruptedWithin20Seconds());
              }
            });
    worker.start();
    work.get().interrupt();
    assertThat(seen.get()).isTrue();
    worker.join();
  }

  @Test
  void anInterruptDoesNotOutlastTheWork() throws Exception {
    CompletableFuture<Boolean> after = new CompletableFuture<>();
    Thread worker =
        start(
            () -> {
              Interruptible own = work.join();
              own.interrupt();
              assertThat(own.end()).isTrue();
              after.complete(Thread.currentThread().isInterrupted());
            });
    assertThat(after.get()).isFalse();
    worker.join();
  }

  @Test
  void theEndOfWorkLeavesTheInterruptOfTheWorkAroundIt() {
    Interruptible outer = new Interruptible(Runnable::run);
    Interruptible inner = new Interruptible(Runnable::run);
    inner.interrupt();
    assertThat(Thread.interrupted()).as("of the inner").isTrue();
    outer.interrupt();

    assertThat(inner.end()).isTrue();

    assertThat(Thread.currentThread().isInterrupted()).as("of the outer").isTrue();
    assertThat(outer.end()).isTrue();
    assertThat(Thread.interrupted()).as("after both").isFalse();
  }

  @Test
  void workThatWasInterruptedBeforeTheWorkInsideItEndsWithItsFlag() {
    Interruptible outer = new Interruptible(Runnable::run);
    outer.interrupt();
    assertThat(Thread.interrupted()).as("of the outer").isTrue();
    Interruptible inner = new Interruptible(Runnable::run);
    inner.interrupt();
    assertThat(inner.end()).isTrue();
    Thread.currentThread().interrupt(); // as bodies do that have caught it

    assertThat(outer.end()).isTrue();

    assertThat(Thread.interrupted()).as("after both").isFalse();
  }

  /** Nor who interrupts it for the same reason once more. */
  @Test
  void whoInterruptsAThreadDoesNotWaitForItsOwnWayToBeInterrupted() throws Exception {
    CountDownLatch mayBe = new CountDownLatch(1);
    Thread worker =
        new Thread(
            () -> {
              work.complete(new Interruptible(task -> new Thread(task).start()));
              seen.complete(isInterruptedWithin20Seconds());
            }) {
          @Override
          public void interrupt() {
            Uninterruptibly.await(mayBe, Long.MAX_VALUE);
            super.interrupt();
          }
        };
    worker.start();
    CompletableFuture<Void> interrupted = work.get().interrupt();

    assertThat(work.get().interrupt()).isSameAs(interrupted).isNotDone();
    mayBe.countDown();
    assertThat(seen.get()).isTrue();
    assertThat(interrupted).succeedsWithin(20, TimeUnit.SECONDS);
    worker.join();
  }

  private Thread start(Runnable body) {
    Thread thread =
        new Thread(
            () -> {
              work.complete(new Interruptible(Runnable::run));
              body.run();
            });
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  private static boolean isInterruptedWithin20Seconds() {
    try {
      return new CountDownLatch(1).await(20, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      return true;
    }
  }
}
