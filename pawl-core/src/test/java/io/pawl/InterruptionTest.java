package io.pawl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.concurrent.Uninterruptibly;
import io.pawl.error.LeaseLostException;
import io.pawl.error.RunTooLongException;
import io.pawl.memory.MemoryStore;
import io.pawl.options.LockObserver;
import io.pawl.options.LockOptions;
import io.pawl.options.PawlOptions;
import io.pawl.spi.LockStore;
import java.lang.reflect.Proxy;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.spi.AbstractInterruptibleChannel;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Lock;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Interrupts, time-outs and cancellations leave nothing in line, whatever they race with. */
class InterruptionTest {

  private static final int ROUNDS = 2_000;

  private final MemoryStore store = new MemoryStore();
  private final AtomicInteger renewals = new AtomicInteger();
  private final Pawl pawl =
      Pawl.over(patient(store), PawlOptions.defaults().releaseAtShutdown(false));
  private final AtomicInteger granted = new AtomicInteger();
  private final AtomicInteger gaveUp = new AtomicInteger();

  /**
   * Who releases asks the store for whoever waits. On a starved machine, or in a new JVM that links
   * what a release needs, that thread may stand still before it asks for longer than a store may be
   * silent; the waiter, whose time is over, would end in an exception.
   */
  private LockStore patient(MemoryStore store) {
    return (LockStore)
        Proxy.newProxyInstance(
            LockStore.class.getClassLoader(),
            new Class<?>[] {LockStore.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("renew")) {
                renewals.incrementAndGet();
              }
              return method.getName().equals("answerTime")
                  ? Duration.ofMinutes(1)
                  : method.invoke(store, arguments);
            });
  }

  static Stream<LockOptions> ways() {
    return Stream.of(LockOptions.defaults(), LockOptions.defaults().strictOrder());
  }

  @ParameterizedTest
  @MethodSource("ways")
  void anInterruptThatRacesAGrantEndsInExactlyOneOfThem(LockOptions options) throws Exception {
    DistributedLock lock = pawl.lock("race", options);
    for (int i = 0; i < ROUNDS; i++) {
      Lease held = lock.tryAcquire(Duration.ofSeconds(20)).orElseThrow();
      CompletableFuture<Thread> waiter = new CompletableFuture<>();
      int turn = i;
      Rounds.together(
          3,
          number -> {
            switch (number) {
              case 0 -> {
                waiter.complete(Thread.currentThread());
                acquireUnlessInterrupted(lock);
              }
              case 1 -> {
                Thread thread = waiter.get();
                if (turn % 2 == 0) {
                  awaitParked(thread);
                }
                thread.interrupt();
              }
              default -> {
                if (turn % 3 > 0) {
                  awaitParked(waiter.get());
                }
                held.close();
              }
            }
          });
    }
    assertThat(granted.get() + gaveUp.get()).isEqualTo(ROUNDS);
    assertThat(gaveUp).hasPositiveValue();
  }

  private void acquireUnlessInterrupted(DistributedLock lock) {
    try {
      lock.acquire().close();
      granted.incrementAndGet();
      Thread.interrupted();
    } catch (InterruptedException e) {
      gaveUp.incrementAndGet();
    }
  }

  /** It takes its time to come to an end, for which the lease is renewed. */
  @Test
  void aJobThatRunsTooLongIsInterruptedOnceMoreWhenItsLeaseIsLost() {
    LockOptions options = LockOptions.defaults().lease(Duration.ofMillis(500));
    AtomicBoolean interrupted = new AtomicBoolean();
    AtomicBoolean told = new AtomicBoolean();
    ScheduledJob job = pawl.job("job", options).maxRun(Duration.ofMillis(1));

    assertThatThrownBy(
            () ->
                job.run(
                    lease -> {
                      interrupted.set(isInterruptedWithin20Seconds());
                      store.evict("job", lease.token());
                      told.set(isInterruptedWithin20Seconds());
                    }))
        .isInstanceOf(RunTooLongException.class);

    assertThat(interrupted).isTrue();
    assertThat(told).isTrue();
    assertThat(Thread.interrupted()).isFalse();
  }

  /** As one is that reads, writes or forces a file by a channel, which an interrupt closes. */
  private static final class SlowToInterrupt extends Thread {
    private final CountDownLatch asked = new CountDownLatch(1);
    private final CountDownLatch mayBe = new CountDownLatch(1);

    SlowToInterrupt(Runnable task) {
      super(task);
    }

    @Override
    public void interrupt() {
      asked.countDown();
      Uninterruptibly.await(mayBe, Long.MAX_VALUE);
      super.interrupt();
    }
  }

  private void isInterruptedWhileLeasesAreRenewed(Runnable work) throws Exception {
    LockOptions options = LockOptions.defaults().lease(Duration.ofMillis(500));
    Lease other = pawl.lock("other", options).acquire();
    SlowToInterrupt worker = new SlowToInterrupt(work);
    worker.start();
    try {
      assertThat(worker.asked.await(20, TimeUnit.SECONDS)).isTrue();
      int before = renewals.get();
      Awaitility.await().until(() -> renewals.get() > before + 2);
    } finally {
      worker.mayBe.countDown();
      worker.join();
    }
    other.closeAsync(); // which a starved machine may have lost
  }

  @Test
  void p5_leasesAreRenewedThoughABodyThatRunsTooLongIsSlowToInterrupt() throws Exception {
    isInterruptedWhileLeasesAreRenewed(
        () ->
            assertThatThrownBy(
                    () ->
                        pawl.job("job")
                            .maxRun(Duration.ofMillis(1))
                            .run(lease -> isInterruptedWithin20Seconds()))
                .isInstanceOf(RunTooLongException.class));
  }

  @Test
  void p5_leasesAreRenewedThoughABodyThatHasLostItsLeaseIsSlowToInterrupt() throws Exception {
    LockOptions options = LockOptions.defaults().lease(Duration.ofMillis(500));
    isInterruptedWhileLeasesAreRenewed(
        () ->
            assertThatThrownBy(
                    () ->
                        pawl.lock("body", options)
                            .run(
                                Duration.ZERO,
                                OnLoss.INTERRUPT,
                                lease -> {
                                  store.evict("body", lease.token());
                                  isInterruptedWithin20Seconds();
                                }))
                .isInstanceOf(LeaseLostException.class));
  }

  /** As one of a file is, whose close waits until it is written. */
  private static final class SlowToClose extends AbstractInterruptibleChannel {
    private final CountDownLatch mayEnd = new CountDownLatch(1);

    @Override
    protected void implCloseChannel() {
      Uninterruptibly.await(mayEnd, Long.MAX_VALUE);
    }

    void write() {
      begin();
      try {
        Uninterruptibly.await(mayEnd, Long.MAX_VALUE);
      } finally {
        try {
          end(true);
        } catch (AsynchronousCloseException closed) {
          Thread.currentThread().interrupt();
        }
      }
    }
  }

  @Test
  void p8_whoEndsACandidacyDoesNotWaitForWhatItsObserverWrites() throws Exception {
    SlowToClose channel = new SlowToClose();
    CountDownLatch writes = new CountDownLatch(1);
    LockObserver observer =
        new LockObserver() {
          @Override
          public void released(String lock, long token, Duration held) {
            writes.countDown();
            channel.write();
          }
        };
    try (Pawl writing = Pawl.over(store, PawlOptions.defaults().observer(observer))) {
      Candidacy candidacy = writing.election("leader").stand("candidate", lease -> {});
      assertThat(writes.await(20, TimeUnit.SECONDS)).isTrue();

      CompletableFuture<Void> end = candidacy.closeAsync();

      assertThat(end).isNotDone();
      channel.mayEnd.countDown();
      assertThat(end).succeedsWithin(Duration.ofSeconds(20));
    }
  }

  private static boolean isInterruptedWithin20Seconds() {
    try {
      return new CountDownLatch(1).await(20, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      return true;
    }
  }

  private static void awaitParked(Thread thread) {
    for (int i = 0; i < 10_000 && thread.getState() == Thread.State.RUNNABLE; i++) {
      Thread.onSpinWait();
    }
  }

  @ParameterizedTest
  @MethodSource("ways")
  void aCancellationThatRacesAGrantGivesTheLockBack(LockOptions options) throws Exception {
    DistributedLock lock = pawl.lock("race", options);
    for (int i = 0; i < ROUNDS; i++) {
      Lease held = lock.tryAcquire(Duration.ofSeconds(20)).orElseThrow();
      var future = lock.tryAcquireAsync(Duration.ofMinutes(1));
      Rounds.together(
          2,
          number -> {
            if (number == 0) {
              held.close();
            } else if (!future.cancel(false)) {
              future.join().orElseThrow().close();
            }
          });
    }
    lock.tryAcquire(Duration.ofSeconds(20)).orElseThrow().close();
  }

  @Test
  void aTimeOutThatRacesAGrantEndsInExactlyOneOfThem() throws Exception {
    DistributedLock lock = pawl.lock("race");
    for (int i = 0; i < ROUNDS; i++) {
      Lease held = lock.tryAcquire(Duration.ofSeconds(20)).orElseThrow();
      long waitNanos = 20_000 + 100L * (i % 1_000);
      Rounds.together(
          2,
          number -> {
            if (number == 0) {
              held.close();
            } else {
              lock.tryAcquire(Duration.ofNanos(waitNanos)).ifPresent(Lease::close);
            }
          });
    }
    lock.tryAcquire(Duration.ofSeconds(20)).orElseThrow().close();
  }

  @Test
  void anInterruptedThreadIsTurnedAwayBeforeItAsks() {
    DistributedLock lock = pawl.lock("free");
    Thread.currentThread().interrupt();
    assertThatThrownBy(lock::acquire).isInstanceOf(InterruptedException.class);
    assertThat(Thread.interrupted()).isFalse();
    lock.tryAcquire().orElseThrow().close();
  }

  @Test
  void aLossInterruptsABodyOnceItHasTakenNoticeOfAnotherInterrupt() {
    DistributedLock lock = pawl.lock("body", LockOptions.defaults().lease(Duration.ofMillis(300)));
    AtomicBoolean interrupted = new AtomicBoolean();
    assertThatThrownBy(
            () ->
                lock.run(
                    Duration.ZERO,
                    OnLoss.INTERRUPT,
                    lease -> {
                      Thread.currentThread().interrupt();
                      store.evict("body", lease.token());
                      while (lease.isValid()) {
                        Thread.onSpinWait();
                      }
                      assertThat(Thread.interrupted()).as("the first").isTrue();
                      try {
                        new CountDownLatch(1).await(20, TimeUnit.SECONDS);
                      } catch (InterruptedException e) {
                        interrupted.set(true);
                      }
                    }))
        .isInstanceOf(LeaseLostException.class);
    assertThat(interrupted).isTrue();
    assertThat(Thread.interrupted()).as("after the body").isFalse();
  }

  @Test
  void aLossInterruptsSuchABodyThoughItsClientHasEndedMeanwhile() {
    DistributedLock lock = pawl.lock("body");
    AtomicLong token = new AtomicLong();
    AtomicBoolean interrupted = new AtomicBoolean();
    assertThatThrownBy(
            () ->
                lock.run(
                    Duration.ZERO,
                    OnLoss.INTERRUPT,
                    lease -> {
                      token.set(lease.token());
                      Thread.currentThread().interrupt();
                      CompletableFuture<Void> closed =
                          CompletableFuture.runAsync(
                              () -> pawl.close(Duration.ZERO), task -> new Thread(task).start());
                      while (!closed.isDone()) {
                        Thread.onSpinWait();
                      }
                      assertThat(Thread.interrupted()).as("the first").isTrue();
                      try {
                        new CountDownLatch(1).await(20, TimeUnit.SECONDS);
                      } catch (InterruptedException e) {
                        interrupted.set(true);
                      }
                    }))
        .isInstanceOf(LeaseLostException.class);
    assertThat(interrupted).isTrue();
    store.evict("body", token.get()); // which its client has left to run out
  }

  private void loseAndHear(Lease lease, String why) {
    store.evict(lease.lock(), lease.token());
    while (lease.isValid()) {
      Thread.onSpinWait();
    }
    assertThat(Thread.currentThread().isInterrupted()).as(why).isTrue();
  }

  private void runInside(LeaseBody<InterruptedException> inner, AtomicBoolean heard) {
    LockOptions options = LockOptions.defaults().lease(Duration.ofMillis(300));
    assertThatThrownBy(
            () ->
                pawl.lock("outer", options)
                    .run(
                        Duration.ZERO,
                        OnLoss.INTERRUPT,
                        around -> {
                          try {
                            pawl.lock("inner", options)
                                .run(
                                    Duration.ZERO,
                                    OnLoss.INTERRUPT,
                                    lease -> {
                                      loseAndHear(lease, "of the inner");
                                      Thread.interrupted();
                                      loseAndHear(around, "of the outer");
                                      inner.run(lease);
                                    });
                          } catch (LeaseLostException e) {
                            heard.set(Thread.interrupted());
                          } catch (InterruptedException e) {
                            heard.set(true);
                          }
                        }))
        .isInstanceOf(LeaseLostException.class);
    assertThat(Thread.interrupted()).as("after both").isFalse();
  }

  @Test
  void aLossInterruptsABodyThoughOneInsideItIsAboutToEndAfterItsOwn() {
    AtomicBoolean heard = new AtomicBoolean();
    runInside(lease -> {}, heard);
    assertThat(heard).isTrue();
  }

  @Test
  void anInterruptOfTheBodyAroundAnotherIsNotTakenForALossOfTheInner() {
    AtomicBoolean heard = new AtomicBoolean();
    runInside(lease -> new CountDownLatch(1).await(), heard);
    assertThat(heard).isTrue();
  }

  /** Both may be lost at once; while the first is cleaned up after, the second one follows. */
  @Test
  void anInterruptOfTheBodyAroundAnotherThatIsNotHeardYetLeavesTheInnerItsLoss() {
    AtomicBoolean heard = new AtomicBoolean();
    assertThatThrownBy(
            () ->
                runLosing(
                    "outer",
                    around ->
                        assertThatThrownBy(
                                () ->
                                    runLosing(
                                        "inner",
                                        lease -> {
                                          loseAndHear(lease, "of the inner");
                                          try {
                                            new CountDownLatch(1).await();
                                          } finally {
                                            loseAndHear(around, "of the outer");
                                            heard.set(true);
                                          }
                                        }))
                            .isInstanceOf(LeaseLostException.class)))
        .isInstanceOf(LeaseLostException.class);
    assertThat(heard).isTrue();
    assertThat(Thread.interrupted()).as("after both").isFalse();
  }

  /** As where the inner one is a part of the cleaning up. */
  @Test
  void aLossThatInterruptedABodyBeforeOneInsideItTakesThePlaceOfTheException() {
    assertThatThrownBy(
            () ->
                runLosing(
                    "outer",
                    around -> {
                      loseAndHear(around, "of the outer");
                      try {
                        new CountDownLatch(1).await();
                      } finally {
                        loseInside();
                      }
                    }))
        .isInstanceOf(LeaseLostException.class);
  }

  @Test
  void aFlagThatIsSetAgainAfterABodyInsideWasInterruptedEndsWithTheBody() {
    assertThatThrownBy(
            () ->
                runLosing(
                    "outer",
                    around -> {
                      loseAndHear(around, "of the outer");
                      Thread.interrupted();
                      loseInside();
                      Thread.currentThread().interrupt();
                    }))
        .isInstanceOf(LeaseLostException.class);
    assertThat(Thread.interrupted()).as("after the body").isFalse();
  }

  private void loseInside() {
    assertThatThrownBy(() -> runLosing("inner", lease -> loseAndHear(lease, "of the inner")))
        .isInstanceOf(LeaseLostException.class);
  }

  private void runLosing(String name, LeaseBody<InterruptedException> body)
      throws InterruptedException {
    LockOptions options = LockOptions.defaults().lease(Duration.ofMillis(300));
    pawl.lock(name, options).run(Duration.ZERO, OnLoss.INTERRUPT, body);
  }

  /** Which the exception of the first does not tell of. */
  @Test
  void aSecondInterruptIsKeptWhileAGroupIsGivenUp() throws Exception {
    AtomicBoolean givingUp = new AtomicBoolean();
    CompletableFuture<Boolean> second = new CompletableFuture<>();
    LockStore interrupting =
        (LockStore)
            Proxy.newProxyInstance(
                LockStore.class.getClassLoader(),
                new Class<?>[] {LockStore.class},
                (proxy, method, arguments) -> {
                  if (method.getName().equals("withdraw") && givingUp.get()) {
                    Thread.currentThread().interrupt();
                  }
                  return method.invoke(store, arguments);
                });
    Lease held = pawl.lock("two").acquire();
    try (Pawl other = Pawl.over(interrupting)) {
      Thread waiter =
          new Thread(
              () -> {
                try {
                  other.lockAll("one", "two").tryAcquire(Duration.ofMinutes(1));
                } catch (InterruptedException e) {
                  second.complete(Thread.interrupted());
                }
              });
      waiter.start();
      Awaitility.await()
          .until(
              () ->
                  !store.show("two").toCompletableFuture().get().orElseThrow().waiters().isEmpty());
      givingUp.set(true);
      waiter.interrupt();

      assertThat(second.get(1, TimeUnit.MINUTES)).isTrue();
      givingUp.set(false);
      waiter.join();
    }
    held.close();
  }

  @Test
  void anUninterruptibleLockIsTakenAndKeepsTheFlag() throws Exception {
    Lock lock = pawl.lock("classic").asJavaLock();
    CompletableFuture<Thread> waiter = new CompletableFuture<>();
    CompletableFuture<Boolean> flag = new CompletableFuture<>();
    Lease held = pawl.lock("classic").acquire();
    Rounds.together(
        2,
        number -> {
          if (number == 0) {
            waiter.complete(Thread.currentThread());
            lock.lock();
            flag.complete(Thread.interrupted());
            lock.unlock();
          } else {
            waiter.get().interrupt();
            Awaitility.await().until(() -> waiter.get().getState() == Thread.State.WAITING);
            held.close();
          }
        });
    assertThat(flag).isCompletedWithValue(true);
  }

  @AfterEach
  void nothingIsLeftBehind() throws Exception {
    pawl.close();
    assertThat(store.list(10).toCompletableFuture().get()).isEmpty();
  }
}
