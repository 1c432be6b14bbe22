package io.pawl.tck.lock;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.options.LockOptions;
import io.pawl.tck.rig.Bench;
import io.pawl.tck.rig.Bench.Running;
import io.pawl.tck.rig.FaultyStore;
import io.pawl.tck.rig.FaultyStore.Verb;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Many threads of two clients: exclusion, growing tokens, and the order in which they get in. */
public abstract class OrderCases extends LockCases {

  /** How often each thread takes the lock at least; a fast store is stormed for 300 ms. */
  private static final int CYCLES = 15;

  private static final long STORM_NANOS = 300_000_000;

  protected OrderCases(Bench bench) {
    super(bench);
  }

  @Test
  void p1_oneHolder_manyThreadsOfTwoClientsNeverMeet() throws Exception {
    storm(Bench.LONG, 6);
  }

  @Test
  void p1_oneHolder_manyThreadsOfTwoClientsNeverMeetInStrictOrder() throws Exception {
    storm(Bench.LONG.strictOrder(), 4);
  }

  @Test
  void p1_oneHolder_manyThreadsOfTwoClientsNeverMeetInShortRuns() throws Exception {
    storm(Bench.LONG.localPassing(3, Duration.ofMillis(1)), 4);
  }

  private void storm(LockOptions options, int threadsPerClient) throws Exception {
    String lock = bench.lock("storm");
    AtomicLong inside = new AtomicLong();
    AtomicLong last = new AtomicLong();
    CyclicBarrier start = new CyclicBarrier(2 * threadsPerClient);
    List<Running<Boolean>> running = new ArrayList<>();
    for (int i = 0; i < 2 * threadsPerClient; i++) {
      Pawl client = i % 2 == 0 ? here : there;
      running.add(
          bench.start(
              () -> {
                start.await();
                long end = System.nanoTime() + STORM_NANOS;
                for (int cycle = 0; cycle < CYCLES || System.nanoTime() < end; cycle++) {
                  try (Lease lease = client.lock(lock, options).acquire()) {
                    long token = lease.token();
                    assertThat(inside.compareAndSet(0, token)).as("alone").isTrue();
                    assertThat(last.getAndSet(token)).isLessThan(token);
                    assertThat(lease.isValid()).isTrue();
                    assertThat(inside.compareAndSet(token, 0)).as("alone").isTrue();
                  }
                }
                return true;
              }));
    }
    for (Running<Boolean> one : running) {
      assertThat(one.result()).isTrue();
    }
    assertComesFree(lock);
  }

  @Test
  void p2_tokensOnlyGrow_withEveryLeaseOfEitherClient() throws Exception {
    String lock = bench.lock("tokens");
    long last = 0;
    for (int i = 0; i < 10; i++) {
      Pawl client = i % 3 == 0 ? there : here;
      try (Lease lease = client.lock(lock, Bench.LONG).acquire()) {
        assertThat(lease.token()).isGreaterThan(last);
        last = lease.token();
      }
    }
  }

  @Test
  void p2_tokensOnlyGrow_afterALeaseThatRanOut() throws Exception {
    String lock = bench.lock("ranOut");
    Lease silent = here.lock(lock, bench.shortLived().renewal(false)).acquire();

    try (Lease next = lockThere(lock).acquire()) {
      assertThat(next.token()).isGreaterThan(silent.token());
    }
  }

  @Test
  void p2_tokensOnlyGrow_afterAllClientsHaveClosed() throws Exception {
    String lock = bench.lock("reopened");
    Lease before = lockHere(lock).acquire();
    before.close();
    here.close();
    there.close();

    try (Lease after = bench.pawl().lock(lock).acquire()) {
      assertThat(after.token()).isGreaterThan(before.token());
    }
  }

  /** In blocks of four, so that a grant has several followers, and a block ends behind another. */
  @Test
  void p6_someoneGetsIn_inStrictOrderFirstComeFirstServedAcrossClients() throws Exception {
    String lock = bench.lock("fifo");
    FaultyStore otherNetwork = bench.faulty();
    Pawl other = bench.over(otherNetwork);
    LockOptions strict = Bench.LONG.strictOrder();
    Lease lease = there.lock(lock, strict).acquire();
    List<Integer> served = new CopyOnWriteArrayList<>();
    List<Running<Boolean>> line = new ArrayList<>();
    List<Integer> arrived = new ArrayList<>();
    for (int i = 0; i < 11; i++) {
      int place = i;
      Pawl client = i % 5 == 0 ? other : here;
      FaultyStore at = client == here ? network : otherNetwork;
      int before = at.answers(Verb.ATTEMPT);
      line.add(
          bench.start(
              () -> {
                try (Lease mine = client.lock(lock, strict).acquire()) {
                  return served.add(place);
                }
              }));
      Bench.eventually(() -> at.answers(Verb.ATTEMPT) > before);
      arrived.add(place);
    }

    lease.close();

    for (Running<Boolean> one : line) {
      one.result();
    }
    assertThat(served).isEqualTo(arrived);
  }

  @Test
  void p6_someoneGetsIn_besideAClientThatPassesTheLockAmongItsThreads() throws Exception {
    String lock = bench.lock("greedy");
    AtomicBoolean enough = new AtomicBoolean();
    List<Running<Boolean>> greedy = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      greedy.add(
          bench.start(
              () -> {
                while (!enough.get()) {
                  lockHere(lock).acquire().close();
                }
                return true;
              }));
    }
    for (int i = 0; i < 5; i++) {
      Running<Boolean> modest =
          bench.start(
              () -> {
                lockThere(lock).acquire().close();
                return true;
              });
      assertThat(modest.result()).isTrue();
    }
    enough.set(true);
    for (Running<Boolean> one : greedy) {
      one.result();
    }
  }

  @Test
  void p6_someoneGetsIn_aReleaseThatRacesAnArrivalLeavesNobodyBesideAFreeLock() throws Exception {
    String lock = bench.lock("race");
    for (int round = 0; round < 100; round++) {
      Lease lease = lockThere(lock).acquire();
      Running<Lease> arriving = bench.start(() -> lockHere(lock).acquire());
      lease.close();
      arriving.result().close();
    }
  }
}
