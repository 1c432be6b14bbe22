package io.pawl.tck.lock;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.DistributedLock;
import io.pawl.GroupLease;
import io.pawl.Lease;
import io.pawl.LockSnapshot.Claimant;
import io.pawl.Pawl;
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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Releases that cost their caller no trip: a hold that is kept, and one given back later. */
public abstract class EasedCases extends LockCases {

  private static final LockOptions STICKY = Bench.LONG.sticky(Duration.ofSeconds(1));
  private static final LockOptions LATE = Bench.LONG.releaseInBackground();

  protected EasedCases(Bench bench) {
    super(bench);
  }

  @Test
  void p2_tokensOnlyGrow_underOneStickyHoldWithoutATrip() throws Exception {
    DistributedLock lock = here.lock(bench.lock("sticky"), STICKY);
    lock.acquire().close();
    long last = 0;
    for (int i = 0; i < 100; i++) {
      try (Lease lease = lock.acquire()) {
        assertThat(lease.token()).isGreaterThan(last);
        assertThat(lease.isValid()).isTrue();
        last = lease.token();
      }
    }
    assertThat(network.calls(Verb.ATTEMPT)).as("a slow machine may need a second").isLessThan(10);
  }

  /** How many one grant has is the store's to say. */
  @Test
  void p2_tokensOnlyGrow_whenAStickyHoldHasUsedUpThoseOfItsGrant() throws Exception {
    DistributedLock lock = here.lock(bench.lock("used up"), STICKY);
    Claimant first = holderUnder(lock.acquire());
    assertThat(first.lastToken())
        .as("it may come back without a trip")
        .isGreaterThan(first.token());

    long last = first.token();
    while (last < first.lastToken()) {
      try (Lease lease = lock.acquire()) {
        assertThat(lease.token()).isGreaterThan(last);
        last = lease.token();
      }
    }
    Lease next = lock.acquire();

    assertThat(next.token()).isGreaterThan(last);
    assertThat(holderUnder(next).token()).as("of another grant").isGreaterThan(first.lastToken());
  }

  /** Whom the store shows as the holder while {@code lease} is held, which is then closed. */
  private Claimant holderUnder(Lease lease) {
    try (lease) {
      Claimant holder = there.inspect(lease.lock()).holders().get(0);
      assertThat(lease.token()).isBetween(holder.token(), holder.lastToken());
      return holder;
    }
  }

  @Test
  void p1_oneHolder_aStickyHoldIsBusyForOthersUntilItIsGivenBack() throws Exception {
    String name = bench.lock("busy");
    network.on(Verb.WITHDRAW, Fault.HOLD_REQUEST);
    long token;
    try (Lease lease = here.lock(name, STICKY).acquire()) {
      token = lease.token();
    }

    assertThat(lockThere(name).tryAcquire()).isEmpty();
    assertThat(lockHere(name).tryAcquire()).as("with other options").isEmpty();
    Pawl onlooker = bench.keep(Pawl.over(bench.store()));
    assertThat(onlooker.inspect(name).holders())
        .extracting(Claimant::thread)
        .containsExactly(Thread.currentThread().getName());
    network.heal();
    network.resume();

    try (Lease next = lockThere(name).acquire()) {
      assertThat(next.token()).isGreaterThan(token);
    }
  }

  @Test
  void p6_someoneGetsIn_besideAClientThatComesBackAgainAndAgain() throws Exception {
    DistributedLock greedy = here.lock(bench.lock("greedy"), STICKY);
    AtomicBoolean enough = new AtomicBoolean();
    Running<Boolean> coming =
        bench.start(
            () -> {
              while (!enough.get()) {
                greedy.acquire().close();
              }
              return true;
            });
    for (int i = 0; i < 2; i++) {
      Running<Boolean> modest =
          bench.start(
              () -> {
                lockThere(greedy.name()).acquire().close();
                return true;
              });
      assertThat(modest.result()).isTrue();
    }
    enough.set(true);
    assertThat(coming.result()).isTrue();
  }

  @Test
  void p1_oneHolder_stickyAndOtherClientsNeverMeet() throws Exception {
    String name = bench.lock("storm");
    LockOptions brief = Bench.LONG.sticky(Duration.ofMillis(5));
    AtomicLong inside = new AtomicLong();
    AtomicLong last = new AtomicLong();
    List<Running<Boolean>> running = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      DistributedLock lock =
          i == 3 ? lockThere(name) : (i % 2 == 0 ? here : there).lock(name, brief);
      running.add(
          bench.start(
              () -> {
                long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(300);
                for (int cycle = 0; cycle < 15 || System.nanoTime() < end; cycle++) {
                  try (Lease lease = lock.acquire()) {
                    long token = lease.token();
                    assertThat(inside.compareAndSet(0, token)).as("alone").isTrue();
                    assertThat(last.getAndSet(token)).isLessThan(token);
                    assertThat(inside.compareAndSet(token, 0)).as("alone").isTrue();
                  }
                }
                return true;
              }));
    }
    for (Running<Boolean> one : running) {
      assertThat(one.result()).isTrue();
    }
    assertComesFree(name);
  }

  @Test
  void p8_nothingLeftBehind_closingGivesAStickyHoldBackAtOnce() throws Exception {
    String name = bench.lock("closed");
    here.lock(name, STICKY).acquire().close();

    here.close();

    assertThat(lockThere(name).tryAcquire()).isPresent();
  }

  @Test
  void aReleaseInTheBackgroundDoesNotWaitForTheStore() throws Exception {
    String name = bench.lock("background");
    Lease lease = here.lock(name, LATE).acquire();
    network.on(Verb.WITHDRAW, Fault.HOLD_REPLY);

    lease.close();

    assertThat(lease.isValid()).isFalse();
    assertComesFree(name);
    network.heal();
    network.resume();
  }

  @Test
  void theFuturesOfReleasesInTheBackgroundTellWhenTheStoreHasConfirmed() throws Exception {
    Lease lease = here.lock(bench.lock("one"), LATE).acquire();
    CompletableFuture<Void> work = new CompletableFuture<>();
    CountDownLatch began = new CountDownLatch(1);
    CompletableFuture<Boolean> ran =
        here.lock(bench.lock("body"), LATE)
            .runAsync(
                Bench.PATIENCE,
                held -> {
                  began.countDown();
                  return work;
                });
    GroupLease group = here.lockAll(List.of(bench.lock("a"), bench.lock("b")), LATE).acquire();
    assertThat(began.await(20, TimeUnit.SECONDS)).isTrue();
    network.on(Verb.WITHDRAW, Fault.HOLD_REPLY);

    CompletableFuture<Void> closed = lease.closeAsync();
    CompletableFuture<Void> groupClosed = group.closeAsync();
    work.complete(null);

    Bench.eventually(() -> network.calls(Verb.WITHDRAW) >= 4);
    assertThat(closed).isNotDone();
    assertThat(groupClosed).isNotDone();
    assertThat(ran).isNotDone();
    network.heal();
    network.resume();
    assertThat(closed).succeedsWithin(Bench.PATIENCE);
    assertThat(groupClosed).succeedsWithin(Bench.PATIENCE);
    assertThat(ran).succeedsWithin(Bench.PATIENCE);
  }

  /** Its own client never finds it busy, and never a token that does not grow. */
  @Test
  void whatTheSameClientAsksForNextComesAfterAReleaseInTheBackground() throws Exception {
    DistributedLock lock = here.lock(bench.lock("order"), LATE);
    long last = 0;
    for (int i = 0; i < 50; i++) {
      try (Lease lease = lock.tryAcquire().orElseThrow()) {
        assertThat(lease.token()).isGreaterThan(last);
        last = lease.token();
      }
    }
    assertComesFree(lock.name());
  }

  /** A store may keep leases of different lengths apart. */
  @Test
  void whatTheSameClientAsksForNextComesAfterItsReleaseOfALeaseOfAnotherLength() throws Exception {
    String name = bench.lock("lengths");
    DistributedLock one = here.lock(name, LATE);
    DistributedLock another = here.lock(name, LATE.lease(Bench.LONG.lease().minusSeconds(5)));
    long last = 0;
    for (int i = 0; i < 50; i++) {
      try (Lease lease = (i % 2 == 0 ? one : another).tryAcquire().orElseThrow()) {
        assertThat(lease.token()).isGreaterThan(last);
        last = lease.token();
      }
    }
    assertComesFree(name);
  }

  @Test
  void aFailedReleaseInTheBackgroundIsToldToTheObserverAndTriedAgain() throws Exception {
    CountDownLatch told = new CountDownLatch(1);
    LockObserver observer =
        new LockObserver() {
          @Override
          public void storeFailed(String lock, StoreException failure) {
            told.countDown();
          }
        };
    Pawl watched = bench.over(network, PawlOptions.defaults().observer(observer));
    String name = bench.lock("failing");
    Lease lease = watched.lock(name, LATE).acquire();
    network.next(Verb.WITHDRAW, Fault.LOSE_REQUEST);

    lease.close();

    assertThat(told.await(20, TimeUnit.SECONDS)).isTrue();
    assertComesFree(name);
  }

  @Test
  void p8_nothingLeftBehind_closingWaitsForReleasesInTheBackground() throws Exception {
    String name = bench.lock("leaving");
    here.lock(name, LATE).acquire().close();

    here.close();

    assertThat(lockThere(name).tryAcquire()).isPresent();
  }
}
