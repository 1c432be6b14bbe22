package io.pawl.tck.lock;

import static io.pawl.tck.rig.Bench.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.DistributedSemaphore;
import io.pawl.Lease;
import io.pawl.error.LockKindException;
import io.pawl.tck.rig.Bench;
import io.pawl.tck.rig.Bench.Running;
import io.pawl.tck.rig.FaultyStore.Verb;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Permits. */
public abstract class SemaphoreCases extends LockCases {

  protected SemaphoreCases(Bench bench) {
    super(bench);
  }

  private DistributedSemaphore permitsHere(String name, int capacity) {
    return here.semaphore(name, capacity, Bench.LONG);
  }

  private DistributedSemaphore permitsThere(String name, int capacity) {
    return there.semaphore(name, capacity, Bench.LONG);
  }

  private static void allFree(DistributedSemaphore semaphore) {
    eventually(
        () -> {
          Optional<Lease> all = semaphore.tryAcquire(semaphore.capacity());
          all.ifPresent(Lease::close);
          return all.isPresent();
        });
  }

  @Test
  void p1_oneHolder_noMorePermitsAreHeldThanThereAre() throws Exception {
    String name = bench.lock("permits");
    Lease three = permitsHere(name, 5).acquire(3);
    Lease two = permitsThere(name, 5).acquire(2);
    assertThat(three.permits()).isEqualTo(3);
    assertThat(three.isShared()).isFalse();
    assertThat(two.token()).isNotEqualTo(three.token());
    assertThat(permitsHere(name, 5).tryAcquire(1)).isEmpty();
    assertThat(permitsThere(name, 5).tryAcquire(1, Duration.ofMillis(20))).isEmpty();

    three.close();

    assertThat(permitsThere(name, 5).tryAcquire(4)).isEmpty();
    try (Lease again = permitsThere(name, 5).tryAcquire(3).orElseThrow()) {
      assertThat(again.token()).isGreaterThan(three.token());
    }
  }

  @Test
  void aLineDoesNotSerialisePermits() throws Exception {
    String name = bench.lock("parallel");
    List<Lease> leases = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      leases.add(permitsHere(name, 4).acquire(1));
    }
    assertThat(permitsHere(name, 4).tryAcquire(1)).isEmpty();
    Running<Lease> waiting = standInLineOf(permitsHere(name, 4));
    leases.get(2).close();
    assertThat(waiting.result().isValid()).isTrue();
  }

  /** With every permit held here, a waiter of this client needs no claim of its own. */
  private Running<Lease> standInLineOf(DistributedSemaphore semaphore) {
    Running<Lease> running = bench.start(() -> semaphore.acquire(1));
    eventually(() -> running.thread().getState() != Thread.State.RUNNABLE);
    return running;
  }

  @Test
  void p6_someoneGetsIn_whoWantsManyIsNotOvertakenByThoseWhoWantFew() throws Exception {
    String name = bench.lock("large");
    Lease one = permitsThere(name, 4).acquire(1);
    Running<Lease> all = standInLine(() -> permitsHere(name, 4).acquire(4));
    assertThat(permitsThere(name, 4).tryAcquire(1, Duration.ofMillis(20))).isEmpty();
    Running<Lease> small = standInLine(() -> permitsHere(name, 4).acquire(1));

    one.close();

    Lease large = all.result();
    assertThat(small.task().isDone()).isFalse();
    large.close();
    assertThat(small.result().isValid()).isTrue();
  }

  @Test
  void p6_someoneGetsIn_everyThreadOfTwoClients() throws Exception {
    String name = bench.lock("busy");
    AtomicInteger used = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    Set<Long> tokens = ConcurrentHashMap.newKeySet();
    bench.parallel(
        96,
        number -> {
          int wanted = 1 + number % 3;
          DistributedSemaphore semaphore =
              number % 2 == 0 ? permitsHere(name, 5) : permitsThere(name, 5);
          try (Lease lease = semaphore.acquire(wanted)) {
            most.accumulateAndGet(used.addAndGet(wanted), Math::max);
            assertThat(tokens.add(lease.token())).isTrue();
            used.addAndGet(-wanted);
          }
        });
    assertThat(most.get()).isBetween(1, 5);
    allFree(permitsHere(name, 5));
  }

  @Test
  void p6_someoneGetsIn_permitsOfADeadHolderComeBackWithItsLease() throws Exception {
    String name = bench.lock("dead");
    long taken = System.nanoTime();
    Lease dead = here.semaphore(name, 2, bench.shortLived()).acquire(2);
    network.cut();

    Lease next = permitsThere(name, 2).tryAcquire(2, Bench.PATIENCE).orElseThrow();

    Bench.assertKeptFor(bench.shortLease(), taken);
    assertThat(dead.isValid()).isFalse();
    assertThat(next.token()).isGreaterThan(dead.token());
  }

  @Test
  void p8_nothingLeftBehind_whoGivesUpLeavesTheLine() throws Exception {
    String name = bench.lock("givesUp");
    Lease all = permitsThere(name, 3).acquire(3);
    assertThat(permitsHere(name, 3).tryAcquire(2, Duration.ofMillis(50))).isEmpty();
    Running<Lease> interrupted = standInLine(() -> permitsHere(name, 3).acquire(1));
    interrupted.thread().interrupt();
    assertThatThrownBy(interrupted::result).isInstanceOf(InterruptedException.class);
    int asked = network.answers(Verb.ATTEMPT);
    CompletableFuture<Optional<Lease>> cancelled =
        permitsHere(name, 3).tryAcquireAsync(3, Bench.PATIENCE);
    eventually(() -> network.answers(Verb.ATTEMPT) > asked);
    cancelled.cancel(false);
    assertLeftTheLine(3);

    all.close();

    allFree(permitsThere(name, 3));
  }

  @Test
  void p8_nothingLeftBehind_ofAClientThatClosesWithPermitsAndWaiters() throws Exception {
    String name = bench.lock("closes");
    Lease lease = permitsHere(name, 2).acquire(1);
    lease.onClosing(lease::closeAsync);
    Lease other = permitsThere(name, 2).acquire(1);
    CompletableFuture<Optional<Lease>> waiting =
        permitsHere(name, 2).tryAcquireAsync(2, Bench.PATIENCE);

    here.close();

    assertThat(waiting).failsWithin(Bench.PATIENCE);
    other.close();
    assertThat(permitsThere(name, 2).tryAcquire(2)).isPresent();
  }

  @Test
  void requestsThatCannotBeAreRefusedBeforeAnythingIsSent() {
    String name = bench.lock("bad");
    int asked = network.calls(Verb.ATTEMPT);
    for (int capacity : new int[] {0, -1, Integer.MIN_VALUE}) {
      assertThatThrownBy(() -> here.semaphore(name, capacity))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining(Integer.toString(capacity));
    }
    for (int wanted : new int[] {0, -1, 9, Integer.MAX_VALUE}) {
      assertThatThrownBy(() -> permitsHere(name, 8).acquire(wanted))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining(name)
          .hasMessageContaining("8 permits");
      assertThatThrownBy(() -> permitsHere(name, 8).tryAcquireAsync(wanted, Duration.ZERO))
          .isInstanceOf(IllegalArgumentException.class);
    }
    assertThatThrownBy(() -> permitsHere(name, 8).tryAcquire(1, Duration.ofMillis(-1)))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> permitsThere(name, 8).changeCapacity(0))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(network.calls(Verb.ATTEMPT)).isEqualTo(asked);
  }

  @Test
  void clientsThatDisagreeOnTheCapacityAreTold() throws Exception {
    String name = bench.lock("disagree");
    try (Lease lease = permitsThere(name, 3).acquire(1)) {
      assertThatThrownBy(() -> permitsHere(name, 4).acquire(1))
          .isInstanceOf(LockKindException.class)
          .hasMessageContaining(name)
          .hasMessageContaining("semaphore of 3")
          .hasMessageContaining("semaphore of 4")
          .hasMessageContaining("changeCapacity");
      assertThatThrownBy(() -> lockHere(name).tryAcquire()).isInstanceOf(LockKindException.class);
      assertThat(lease.isValid()).isTrue();
    }
    assertThatThrownBy(() -> permitsHere(name, 4).tryAcquire(1))
        .isInstanceOfSatisfying(
            LockKindException.class, e -> assertThat(e.capacity()).isEqualTo(3));
    permitsHere(name, 3).acquire(3).close();
  }

  @Test
  void theCapacityIsChangedOnRequest() throws Exception {
    String name = bench.lock("change");
    Lease two = permitsThere(name, 2).acquire(2);
    Running<Lease> waiting = standInLine(() -> permitsHere(name, 2).acquire(1));

    DistributedSemaphore larger = permitsThere(name, 2).changeCapacity(3);

    assertThat(waiting.result().isValid()).isTrue();
    assertThat(two.isValid()).isTrue();
    assertThat(larger.capacity()).isEqualTo(3);
    assertThat(larger.tryAcquire(1)).isEmpty();
    assertThatThrownBy(() -> permitsThere(name, 2).tryAcquire(1))
        .isInstanceOf(LockKindException.class);
    waiting.result().close();
    larger.tryAcquire(1, Bench.PATIENCE).orElseThrow().close();
  }

  /** All permits are held here, so that the waiter has no claim of its own at the store. */
  @Test
  void p6_someoneGetsIn_aWaiterBehindItsOwnClientIsServedWhenItsClientAddsPermits()
      throws Exception {
    String name = bench.lock("grow");
    DistributedSemaphore one = permitsThere(name, 1);
    Lease first = one.acquire(1);
    Running<Lease> waiting = standInLineOf(one);

    one.changeCapacity(2);

    assertThat(waiting.result().isValid()).isTrue();
    assertThat(first.isValid()).isTrue();
    waiting.result().close();
    first.close();
    allFree(permitsHere(name, 2));
  }

  @Test
  void p6_someoneGetsIn_waitersBehindTheirOwnClientAreServedWhenAnotherAddsPermits()
      throws Exception {
    String name = bench.lock("grown");
    DistributedSemaphore one = permitsHere(name, 1);
    Lease first = one.acquire(1);
    Running<Lease> second = standInLineOf(one);
    Running<Lease> third = standInLineOf(one);

    permitsThere(name, 1).changeCapacity(3);

    assertThat(second.result().isValid()).isTrue();
    assertThat(third.result().isValid()).isTrue();
    assertThat(first.isValid()).isTrue();
    assertThat(permitsThere(name, 3).tryAcquire(1)).isEmpty();
  }

  @Test
  void whoWaitsBehindItsOwnClientIsServedAtItsReleaseWhateverFittingCapacityThereIsByThen()
      throws Exception {
    String name = bench.lock("other");
    DistributedSemaphore two = permitsHere(name, 2);
    Lease first = two.acquire(2);
    Running<Lease> waiting = bench.start(() -> two.acquire(2));
    eventually(() -> waiting.thread().getState() != Thread.State.RUNNABLE);
    permitsThere(name, 2).changeCapacity(3);
    Lease between = permitsThere(name, 3).acquire(1);

    first.close();

    assertThat(waiting.result().isValid()).isTrue();
    assertThatThrownBy(() -> two.tryAcquire(1)).isInstanceOf(LockKindException.class);
    between.close();
  }

  @Test
  void p8_nothingLeftBehind_ofAClientThatClosesAfterItChangedACapacityUnderAWaiter()
      throws Exception {
    String name = bench.lock("closesChanged");
    DistributedSemaphore one = permitsThere(name, 1);
    Lease first = one.acquire(1);
    first.onClosing(first::closeAsync);
    CompletableFuture<Optional<Lease>> waiting = one.tryAcquireAsync(1, Bench.PATIENCE);
    one.changeCapacity(2);
    Lease second = waiting.get().orElseThrow();
    second.onClosing(second::closeAsync);
    assertThat(second.isValid()).isTrue();

    there.close();

    allFree(permitsHere(name, 2));
  }

  @Test
  void whoWaitsForMoreThanThereAreLeftIsTold() throws Exception {
    String name = bench.lock("shrink");
    Lease one = permitsThere(name, 3).acquire(1);
    Running<Lease> tooMany =
        standInLine(() -> here.semaphore(name, 3, bench.shortLived()).acquire(3));

    permitsThere(name, 3).changeCapacity(2);

    assertThatThrownBy(tooMany::result).isInstanceOf(LockKindException.class);
    assertThat(one.isValid()).isTrue();
  }

  @Test
  void aLockInUseBecomesNoSemaphore() throws Exception {
    String name = bench.lock("inUse");
    try (Lease lease = lockHere(name).acquire()) {
      assertThatThrownBy(() -> permitsThere(name, 2).changeCapacity(3))
          .isInstanceOf(LockKindException.class)
          .hasMessageContaining("'" + name + "' is a lock");
      assertThat(lease.isValid()).isTrue();
    }
    permitsThere(name, 2).changeCapacity(3).acquire(3).close();
  }

  @Test
  void aSemaphoreIsNoReadWriteLock() throws Exception {
    String lock = bench.lock("kind");
    there.semaphore(lock, 3).acquire(1).close();
    assertThatThrownBy(() -> here.readWriteLock(lock, Bench.LONG).readLock().acquire())
        .isInstanceOf(LockKindException.class)
        .hasMessageContaining(lock)
        .hasMessageContaining("semaphore of 3");
    assertThatThrownBy(() -> here.readWriteLock(lock, Bench.LONG).writeLock().tryAcquire())
        .isInstanceOf(LockKindException.class);
    assertThatThrownBy(
            () ->
                here.readWriteLock(lock, Bench.LONG)
                    .readLock()
                    .tryAcquireAsync(Duration.ofSeconds(5))
                    .join())
        .hasCauseInstanceOf(LockKindException.class);
  }

  @Test
  void permitsAreWaitedForWithoutAThreadToo() throws Exception {
    String name = bench.lock("async");
    Lease both = permitsThere(name, 2).acquire(2);
    CompletableFuture<Lease> one = permitsHere(name, 2).acquireAsync(1);
    assertThat(one).isNotDone();
    both.close();
    one.get(Bench.PATIENCE.toMillis(), TimeUnit.MILLISECONDS).close();
    allFree(permitsThere(name, 2));
  }
}
