package io.pawl.tck.lock;

import static io.pawl.tck.rig.Bench.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.error.LeaseLostException;
import io.pawl.spi.LockStore;
import io.pawl.tck.rig.Bench;
import io.pawl.tck.rig.Bench.Running;
import io.pawl.tck.rig.FaultyStore;
import io.pawl.tck.rig.FaultyStore.Fault;
import io.pawl.tck.rig.FaultyStore.Verb;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** What remains of a client after it was closed: nothing. */
public abstract class CloseCases extends LockCases {

  /** Shorter than an idle thread of a pool lives. */
  private static final Duration AT_ONCE = Duration.ofSeconds(8);

  protected CloseCases(Bench bench) {
    super(bench);
  }

  /** Its holder closes it as soon as the client begins to close. */
  private Lease heldUntilClosing(String lock) throws InterruptedException {
    Lease lease = lockHere(lock).acquire();
    lease.onClosing(lease::closeAsync);
    return lease;
  }

  @Test
  void p8_nothingLeftBehind_closeGivesBackWhatHoldersClose() throws Exception {
    List<Lease> leases = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      leases.add(heldUntilClosing(bench.lock("held" + i)));
    }
    here.close();

    for (Lease lease : leases) {
      assertThat(lockThere(lease.lock()).tryAcquire()).isPresent();
    }
  }

  @Test
  void p1_oneHolder_closeLetsNobodyInBesideABodyThatGoesOn() throws Exception {
    String lock = bench.lock("body");
    Lease lease = lockHere(lock).acquire();
    CompletableFuture<Optional<Lease>> next = lockThere(lock).tryAcquireAsync(Bench.LONG_LEASE);
    CountDownLatch asked = new CountDownLatch(1);
    lease.onClosing(asked::countDown);
    Running<Boolean> closing = bench.start(this::closeHere);
    assertThat(asked.await(20, TimeUnit.SECONDS)).isTrue();
    assertThat(lease.isValid()).as("it is asked to end, not ended").isTrue();
    assertThat(next).isNotDone();

    lease.close();

    assertThat(closing.result()).isTrue();
    assertThat(next.get(20, TimeUnit.SECONDS)).isPresent();
  }

  @Test
  void p1_oneHolder_aLeaseHeldBeyondTheGraceIsLostAndRunsOut() throws Exception {
    String lock = bench.lock("grace");
    Lease lease = here.lock(lock, bench.shortLived().lease(Duration.ofSeconds(3))).acquire();
    AtomicInteger lost = new AtomicInteger();
    lease.onLost(lost::incrementAndGet);

    here.close(Duration.ZERO);

    assertThat(lease.isValid()).isFalse();
    assertThat(lost).hasValue(1);
    assertThat(network.calls(Verb.WITHDRAW)).as("given back beside a body").isZero();
    assertThat(lockThere(lock).tryAcquire(Bench.PATIENCE)).isPresent();
  }

  /** The client renews while it waits for its holders. */
  @Test
  void p1_oneHolder_aHolderThatNeedsItsGraceKeepsALeaseThatIsShorter() throws Exception {
    Duration length = bench.shortLease().multipliedBy(5);
    Lease lease = here.lock(bench.lock("slow"), bench.shortLived().lease(length)).acquire();
    AtomicInteger lost = new AtomicInteger();
    lease.onLost(lost::incrementAndGet);
    CountDownLatch asked = new CountDownLatch(1);
    lease.onClosing(asked::countDown);
    Running<Boolean> closing =
        bench.start(
            () -> {
              here.close(Bench.LONG_LEASE);
              return true;
            });
    assertThat(asked.await(20, TimeUnit.SECONDS)).isTrue();
    int renewals = network.answers(Verb.RENEW);

    eventually(() -> network.answers(Verb.RENEW) > renewals + 3);

    assertThat(lease.isValid()).isTrue();
    assertThat(lockThere(lease.lock()).tryAcquire()).isEmpty();
    lease.close();
    assertThat(closing.result()).isTrue();
    assertThat(lost).hasValue(0);
  }

  @Test
  void p5_lossIsTold_neverForAnOrdinaryShutdown() throws Exception {
    Lease lease = heldUntilClosing(bench.lock("quiet"));
    AtomicInteger lost = new AtomicInteger();
    lease.onLost(lost::incrementAndGet);

    here.close();

    assertThat(lost).hasValue(0);
    lease.close();
  }

  @Test
  void p8_nothingLeftBehind_closeTakesWaitersOutOfLine() throws Exception {
    String lock = bench.lock("waiting");
    Lease lease = lockThere(lock).acquire();
    Running<Lease> waiting = standInLine(() -> lockHere(lock).acquire());
    CompletableFuture<Optional<Lease>> async =
        here.lock(lock, Bench.LONG.strictOrder()).tryAcquireAsync(Duration.ofMinutes(1));
    eventually(() -> network.answers(Verb.ATTEMPT) == 2);

    here.close();

    assertThatThrownBy(waiting::result).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> async.get(20, TimeUnit.SECONDS))
        .isInstanceOf(ExecutionException.class)
        .hasCauseInstanceOf(IllegalStateException.class);
    lease.close();
    assertThat(lockThere(lock).tryAcquire()).isPresent();
  }

  @Test
  void p8_nothingLeftBehind_closeReturnsWhenTheStoreHasConfirmed() throws Exception {
    String lock = bench.lock("confirmed");
    heldUntilClosing(lock);
    network.on(Verb.WITHDRAW, Fault.HOLD_REQUEST);
    Running<Boolean> closing =
        bench.start(
            () -> {
              here.close();
              return true;
            });
    eventually(() -> network.calls(Verb.WITHDRAW) == 1);
    Set<Thread.State> settled =
        EnumSet.of(Thread.State.WAITING, Thread.State.TIMED_WAITING, Thread.State.TERMINATED);
    eventually(() -> settled.contains(closing.thread().getState()));
    assertThat(closing.task().isDone()).isFalse();

    network.resume();

    assertThat(closing.result()).isTrue();
    assertThat(lockThere(lock).tryAcquire()).isPresent();
  }

  @Test
  void p8_nothingLeftBehind_aSecondCloseWaitsForTheFirst() throws Exception {
    String lock = bench.lock("twice");
    heldUntilClosing(lock);
    network.on(Verb.WITHDRAW, Fault.HOLD_REQUEST);
    Running<Boolean> first = bench.start(this::closeHere);
    eventually(() -> network.calls(Verb.WITHDRAW) == 1);
    Running<Boolean> second = bench.start(this::closeHere);
    Set<Thread.State> settled =
        EnumSet.of(Thread.State.WAITING, Thread.State.TIMED_WAITING, Thread.State.TERMINATED);
    eventually(() -> settled.contains(second.thread().getState()));
    assertThat(second.task().isDone()).as("closed before the lock was given back").isFalse();

    network.resume();

    assertThat(second.result() && first.result()).isTrue();
    assertThat(lockThere(lock).tryAcquire()).isPresent();
  }

  private boolean closeHere() {
    here.close();
    return true;
  }

  @Test
  void p5_lossIsTold_whenTheClientIsClosedUnderIt() throws Exception {
    Lease lease = lockHere(bench.lock("told")).acquire();
    AtomicInteger lost = new AtomicInteger();
    lease.onLost(lost::incrementAndGet);

    here.close(Duration.ZERO);

    assertThat(lost).hasValue(1);
    assertThat(lease.isValid()).isFalse();
    assertThatThrownBy(lease::close).isInstanceOf(LeaseLostException.class);
    lease.close();
    here.close();
    assertThat(lost).hasValue(1);
  }

  @Test
  void p8_nothingLeftBehind_aClosedClientRefusesRequests() {
    String lock = bench.lock("refused");
    here.close();
    here.close();

    assertThatThrownBy(() -> lockHere(lock).tryAcquire()).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> lockHere(lock).acquire()).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> lockHere(lock).tryAcquireAsync(Duration.ZERO))
        .isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> lockHere(lock).asJavaLock().lock())
        .isInstanceOf(IllegalStateException.class);
    assertThat(lockThere(lock).tryAcquire()).isPresent();
  }

  @Test
  void p8_nothingLeftBehind_noThreadOfTheClient() throws Exception {
    Set<Thread> before = pawlThreads();
    LockStore store = bench.store();
    FaultyStore counted = bench.keep(new FaultyStore(store));
    Pawl client = bench.over(counted);
    Lease lease = client.lock(bench.lock("threads"), bench.shortLived()).acquire();
    CompletableFuture<Optional<Lease>> waiting =
        client.lock(lease.lock()).tryAcquireAsync(Duration.ofMinutes(1));
    eventually(() -> counted.answers(Verb.RENEW) > 0);
    lease.close();
    waiting.get(20, TimeUnit.SECONDS).orElseThrow().close();
    assertThat(pawlThreads()).isNotEqualTo(before);

    client.close();
    store.close();

    Awaitility.await().atMost(AT_ONCE).until(() -> before.containsAll(pawlThreads()));
  }

  private static Set<Thread> pawlThreads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().startsWith("pawl-"))
        .collect(Collectors.toSet());
  }

  @Test
  void aStoreThatTheApplicationMadeOutlivesItsClients() throws Exception {
    LockStore store = bench.store();
    String lock = bench.lock("given");
    for (int i = 0; i < 2; i++) {
      Pawl client = bench.keep(Pawl.over(store));
      client.lock(lock, Bench.LONG).tryAcquire(Bench.PATIENCE).orElseThrow().close();
      client.close();
    }
  }

  @Test
  void p8_nothingLeftBehind_aLeaseClosedIsRenewedNoMore() throws Exception {
    Lease lease = here.lock(bench.lock("renewed"), bench.shortLived()).acquire();
    eventually(() -> network.answers(Verb.RENEW) > 0);
    lease.close();
    int renewals = network.calls(Verb.RENEW);
    long closed = System.nanoTime();

    Bench.passed(closed, bench.shortLease().multipliedBy(2));

    assertThat(network.calls(Verb.RENEW)).isLessThanOrEqualTo(renewals + 1);
  }

  @Test
  void p8_nothingLeftBehind_closeThatRacesGrantsGivesThemBack() throws Exception {
    for (int round = 0; round < 20; round++) {
      String lock = bench.lock("race" + round);
      Lease lease = lockThere(lock).acquire();
      Pawl client = bench.pawl();
      CompletableFuture<Optional<Lease>> waiting =
          client.lock(lock, Bench.LONG).tryAcquireAsync(Duration.ofMinutes(1));
      waiting.thenAccept(granted -> granted.ifPresent(Lease::close));
      Running<Boolean> closing =
          bench.start(
              () -> {
                client.close();
                return true;
              });
      lease.close();
      assertThat(closing.result()).isTrue();
      assertThat(lockThere(lock).tryAcquire()).isPresent();
      eventually(waiting::isDone);
    }
  }
}
