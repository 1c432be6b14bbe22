package io.pawl.tck.lock;

import static io.pawl.tck.rig.Bench.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.DistributedLock;
import io.pawl.GroupLease;
import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.error.LeaseLostException;
import io.pawl.error.StoreException;
import io.pawl.options.LockObserver;
import io.pawl.options.LockOptions;
import io.pawl.options.PawlOptions;
import io.pawl.tck.rig.Bench;
import io.pawl.tck.rig.Bench.Running;
import io.pawl.tck.rig.FaultyStore.Fault;
import io.pawl.tck.rig.FaultyStore.Verb;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Users' code may block, throw, call back into the client and close it, wherever it is called. */
public abstract class UserCodeCases extends LockCases {

  /** More than any pool of the engine's has threads. */
  private static final int MANY = 40;

  private final CountDownLatch released = new CountDownLatch(1);

  protected UserCodeCases(Bench bench) {
    super(bench);
  }

  @AfterEach
  final void releaseWhoIsBlocked() {
    released.countDown();
  }

  private void block() {
    try {
      released.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static void get(CompletableFuture<?> future) throws Exception {
    future.get(Bench.PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
  }

  @Test
  void p6_someoneGetsIn_thoughContinuationsOfACloseUseTheClient() throws Exception {
    AtomicBoolean over = new AtomicBoolean();
    List<Running<Boolean>> busy = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      String lock = bench.lock("busy" + i);
      busy.add(
          bench.start(
              () -> {
                while (!over.get()) {
                  here.lock(lock).acquire().close();
                }
                return true;
              }));
    }
    String another = bench.lock("another");
    for (int round = 0; round < 50; round++) {
      Lease lease = lockHere(bench.lock("closed")).acquire();
      get(lease.closeAsync().thenRun(() -> lockHere(another).tryAcquire().ifPresent(Lease::close)));
    }
    over.set(true);
    for (Running<Boolean> thread : busy) {
      assertThat(thread.result()).isTrue();
    }
  }

  @Test
  void p5_lossIsTold_andLeasesAreRenewed_thoughContinuationsBlock() throws Exception {
    LockOptions spared = Bench.LONG.lease(bench.shortLease().multipliedBy(5)); // by a slow disk
    Lease lease = here.lock(bench.lock("renewed"), spared).acquire();
    AtomicInteger lost = new AtomicInteger();
    lease.onLost(lost::incrementAndGet);
    for (int i = 0; i < MANY; i++) {
      Lease other = lockHere(bench.lock("other" + i)).acquire();
      bench.start(() -> other.closeAsync().thenRun(this::block));
      GroupLease group =
          here.lockAll(bench.lock("a" + i), bench.lock("b" + i)).tryAcquire().orElseThrow();
      bench.start(() -> group.closeAsync().thenRun(this::block));
      DistributedLock free = lockHere(bench.lock("free" + i));
      bench.start(
          () ->
              free.tryAcquireAsync(Duration.ofMinutes(1))
                  .thenAccept(
                      granted -> {
                        block();
                        granted.orElseThrow().close();
                      }));
    }
    int renewals = network.answers(Verb.RENEW);
    eventually(() -> network.answers(Verb.RENEW) > renewals + 3);
    assertThat(lease.isValid()).isTrue();
    assertThat(lockHere(bench.lock("later")).tryAcquire()).isPresent();

    network.on(Verb.RENEW, Fault.LOSE_REQUEST);

    eventually(() -> lost.get() == 1);
  }

  @Test
  void p5_lossIsTold_andWaitersAreServed_thoughCallbacksBlock() throws Exception {
    for (int i = 0; i < MANY; i++) {
      here.lock(bench.lock("blocked" + i), bench.shortLived()).acquire().onLost(this::block);
    }
    Lease last = here.lock(bench.lock("last"), bench.shortLived()).acquire();
    AtomicInteger lost = new AtomicInteger();
    last.onLost(lost::incrementAndGet);
    CompletableFuture<Optional<Lease>> next =
        here.lock(last.lock(), bench.shortLived()).tryAcquireAsync(Duration.ofMinutes(1));

    network.on(Verb.RENEW, Fault.LOSE_REQUEST);
    eventually(() -> lost.get() == 1);
    network.heal();

    assertThat(next.get(20, TimeUnit.SECONDS)).isPresent();
  }

  @Test
  void p5_lossIsTold_toACallbackThatStopsTheWorkerAndWaitsForIt() throws Exception {
    Lease lease = here.lock(bench.lock("worker"), bench.shortLived()).acquire();
    Running<Boolean> worker =
        bench.start(
            () -> {
              while (lease.isValid()) {
                Thread.onSpinWait();
              }
              return true;
            });
    CompletableFuture<Boolean> stopped = new CompletableFuture<>();
    lease.onLost(
        () -> {
          try {
            worker.thread().interrupt();
            worker.thread().join();
            stopped.complete(true);
          } catch (InterruptedException e) {
            stopped.completeExceptionally(e);
          }
        });

    network.on(Verb.RENEW, Fault.LOSE_REQUEST);

    get(stopped);
    assertThat(worker.result()).isTrue();
  }

  @Test
  void p5_lossIsTold_toACallbackThatWaitsForAWorkerThatCloses() throws Exception {
    Lease lease = here.lock(bench.lock("closer"), bench.shortLived()).acquire();
    Running<Boolean> worker =
        bench.start(
            () -> {
              while (lease.isValid()) {
                Thread.onSpinWait();
              }
              assertThatThrownBy(lease::close).isInstanceOf(LeaseLostException.class);
              return true;
            });
    CompletableFuture<Boolean> stopped = new CompletableFuture<>();
    lease.onLost(
        () -> {
          try {
            stopped.complete(worker.result());
          } catch (Exception e) {
            stopped.completeExceptionally(e);
          }
        });

    network.on(Verb.RENEW, Fault.LOSE_REQUEST);

    get(stopped);
  }

  @Test
  void p5_lossIsTold_toTheHolderThoughACallbackHasClosed() throws Exception {
    Lease lease = here.lock(bench.lock("twice"), bench.shortLived()).acquire();
    AtomicInteger called = new AtomicInteger();
    lease.onLost(
        () -> {
          lease.close();
          called.incrementAndGet();
        });
    network.on(Verb.RENEW, Fault.LOSE_REQUEST);
    eventually(() -> called.get() == 1);

    assertThatThrownBy(lease::close).isInstanceOf(LeaseLostException.class);
    assertThatCode(lease::close).doesNotThrowAnyException();
    assertThatCode(
            () ->
                lease.onLost(
                    () -> {
                      throw new IllegalStateException("a callback of the case fails");
                    }))
        .doesNotThrowAnyException();
  }

  @Test
  void p8_nothingLeftBehind_aCallbackMayCloseTheClient() throws Exception {
    Lease lease = here.lock(bench.lock("closes"), bench.shortLived()).acquire();
    CountDownLatch closed = new CountDownLatch(1);
    lease.onLost(
        () -> {
          here.close();
          closed.countDown();
        });

    network.on(Verb.RENEW, Fault.LOSE_REQUEST);
    network.on(Verb.WITHDRAW, Fault.NONE);

    assertThat(closed.await(Bench.PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void p8_nothingLeftBehind_aContinuationMayCloseTheClient() throws Exception {
    Lease lease = lockHere(bench.lock("continued")).acquire();
    get(lease.closeAsync().thenRun(here::close));
    assertThat(lockThere(lease.lock()).tryAcquire()).isPresent();
  }

  @Test
  void p8_nothingLeftBehind_aSecondCloseWaitsForTheSameConfirmation() throws Exception {
    Lease lease = lockHere(bench.lock("confirmed")).acquire();
    network.on(Verb.WITHDRAW, Fault.HOLD_REQUEST);
    CompletableFuture<Void> first = lease.closeAsync();
    eventually(() -> network.calls(Verb.WITHDRAW) == 1);

    CompletableFuture<Void> second = lease.closeAsync();
    Running<Boolean> third =
        bench.start(
            () -> {
              lease.close();
              return true;
            });

    eventually(() -> isParked(third.thread()));
    assertThat(second).isNotDone();
    network.resume();
    get(first);
    get(second);
    assertThat(third.result()).isTrue();
  }

  private static boolean isParked(Thread thread) {
    Thread.State state = thread.getState();
    return state == Thread.State.WAITING || state == Thread.State.TIMED_WAITING;
  }

  @Test
  void usersCodeRunsOnTheExecutorThatTheyChose() throws Exception {
    Set<Thread> threads = ConcurrentHashMap.newKeySet();
    Set<Thread> theirs = ConcurrentHashMap.newKeySet();
    ExecutorService executor =
        Executors.newCachedThreadPool(
            task -> {
              Thread thread = new Thread(task, "users");
              thread.setDaemon(true);
              theirs.add(thread);
              return thread;
            });
    bench.keep(executor::shutdownNow);
    AtomicInteger failures = new AtomicInteger();
    LockObserver observer =
        new LockObserver() {
          @Override
          public void storeFailed(String lock, StoreException failure) {
            threads.add(Thread.currentThread());
            failures.incrementAndGet();
          }

          @Override
          public void lost(String lock, long token, String why) {
            threads.add(Thread.currentThread());
          }
        };
    Pawl client = bench.over(network, PawlOptions.defaults().executor(executor).observer(observer));
    Lease lease = client.lock(bench.lock("theirs"), bench.shortLived()).acquire();
    CompletableFuture<Thread> lost = new CompletableFuture<>();
    lease.onLost(() -> lost.complete(Thread.currentThread()));
    CompletableFuture<Optional<Lease>> waiting =
        client.lock(lease.lock()).tryAcquireAsync(Duration.ofMinutes(1));
    CompletableFuture<Void> noted = waiting.thenRun(() -> threads.add(Thread.currentThread()));
    Lease other = client.lock(bench.lock("other")).acquire();
    network.next(Verb.WITHDRAW, Fault.HOLD_REQUEST);
    CompletableFuture<Void> closed =
        other.closeAsync().thenRun(() -> threads.add(Thread.currentThread()));
    eventually(() -> network.calls(Verb.WITHDRAW) >= 1);
    network.resume();
    get(closed);

    network.on(Verb.RENEW, Fault.LOSE_REQUEST);
    threads.add(lost.get(20, TimeUnit.SECONDS));
    eventually(() -> failures.get() > 0);
    network.heal();
    get(noted);

    assertThat(theirs).containsAll(threads);
  }

  @Test
  void threadsOfTheClientInheritNothingFromWhoeverCallsFirst() throws Exception {
    InheritableThreadLocal<String> identity = new InheritableThreadLocal<>();
    identity.set("the first request's");
    Thread first = Thread.currentThread();
    ClassLoader usual = first.getContextClassLoader();
    ClassLoader theirs = new ClassLoader(usual) {};
    first.setContextClassLoader(theirs);
    Lease held = lockThere(bench.lock("inherits")).acquire();
    CompletableFuture<Optional<String>> seen =
        here.lock(held.lock(), bench.shortLived())
            .tryAcquireAsync(Duration.ofMinutes(1))
            .thenApply(
                lease -> {
                  lease.orElseThrow().close();
                  boolean inherits = Thread.currentThread().getContextClassLoader() == theirs;
                  return Optional.ofNullable(inherits ? "its class loader" : identity.get());
                });
    identity.remove();
    first.setContextClassLoader(usual);
    held.close();
    assertThat(seen.get(20, TimeUnit.SECONDS)).isEmpty();
  }
}
