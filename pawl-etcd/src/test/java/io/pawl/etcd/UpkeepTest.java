package io.pawl.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class UpkeepTest {

  @Test
  void whatComesWhileARoundFindsNothingIsLookedAfterByTheNext() throws Exception {
    CountDownLatch rounds = new CountDownLatch(2);
    Upkeep[] self = new Upkeep[1];
    try (Upkeep upkeep =
        new Upkeep(
            now -> {
              rounds.countDown();
              if (rounds.getCount() == 1) {
                self[0].wake();
              }
              return 0;
            })) {
      self[0] = upkeep;
      upkeep.wake();
      assertThat(rounds.await(20, TimeUnit.SECONDS)).isTrue();
    }
  }

  /** It goes on until its end is waited for, or was not. */
  @Test
  void anInterruptedThreadWaitsForTheRoundUnderWay() throws Exception {
    Thread closer = Thread.currentThread();
    AtomicBoolean closed = new AtomicBoolean();
    CompletableFuture<Boolean> waited = new CompletableFuture<>();
    CountDownLatch begun = new CountDownLatch(1);
    Upkeep upkeep =
        new Upkeep(
            now -> {
              begun.countDown();
              while (!Thread.currentThread().isInterrupted()) {
                Thread.onSpinWait();
              }
              while (!closed.get() && closer.getState() != Thread.State.TIMED_WAITING) {
                Thread.onSpinWait();
              }
              waited.complete(!closed.get());
              return 0;
            });
    upkeep.wake();
    assertThat(begun.await(20, TimeUnit.SECONDS)).isTrue();
    closer.interrupt();

    upkeep.close();
    closed.set(true);

    assertThat(Thread.interrupted()).isTrue();
    assertThat(waited.get(20, TimeUnit.SECONDS)).isTrue();
  }

  /** Else whoever wakes it first would have failed, and nobody would look after anything. */
  @Test
  void aTimerThatCannotBeHadFailsTheStoreAtOnce() {
    InternalError none = new InternalError("unable to create native thread");

    assertThatThrownBy(
            () ->
                new Upkeep(
                    now -> 0,
                    task -> {
                      throw none;
                    }))
        .isSameAs(none);
  }
}
