package io.pawl.tck.lock;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.spi.Mode;
import io.pawl.tck.lock.Linearizability.Call;
import io.pawl.tck.rig.Bench;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;

/** What the threads of two clients see is what a lock that does one thing after another allows. */
abstract class LinearizabilityRounds extends LockCases {

  private static final int THREADS = 6;
  private static final int LEASES_PER_THREAD = 5;
  private static final int ROUNDS = 4;

  LinearizabilityRounds(Bench bench) {
    super(bench);
  }

  /** How one thread asks for the lock. */
  interface Asks {
    Optional<Lease> ask(Pawl client, Mode mode) throws Exception;
  }

  /** Which mode a thread asks for next. */
  interface Chooses {
    Mode next(Random random);
  }

  final void check(String what, Asks asks, Chooses chooses) throws Exception {
    long seed = new Random().nextLong();
    for (int round = 0; round < ROUNDS; round++) {
      List<Call> calls = Collections.synchronizedList(new ArrayList<>());
      List<Bench.Running<Boolean>> threads = new ArrayList<>();
      for (int i = 0; i < THREADS; i++) {
        Random random = new Random(seed + THREADS * round + i);
        Pawl client = i % 2 == 0 ? here : there;
        threads.add(bench.start(() -> use(client, random, asks, chooses, calls)));
      }
      for (Bench.Running<Boolean> thread : threads) {
        thread.result();
      }
      assertThat(calls).hasSizeGreaterThan(THREADS);
      assertThat(Linearizability.explains(calls)).as("%s: %s", what, calls).isTrue();
    }
  }

  private static boolean use(
      Pawl client, Random random, Asks asks, Chooses chooses, List<Call> calls) throws Exception {
    for (int i = 0; i < LEASES_PER_THREAD; i++) {
      Mode mode = chooses.next(random);
      long began = System.nanoTime();
      Optional<Lease> lease = asks.ask(client, mode);
      long ended = System.nanoTime();
      if (lease.isPresent()) {
        long token = lease.get().token();
        calls.add(new Call(mode, true, token, began, ended));
        for (int spin = random.nextInt(3); spin > 0; spin--) {
          Thread.yield();
        }
        began = System.nanoTime();
        lease.get().close();
        calls.add(new Call(mode, false, token, began, System.nanoTime()));
      }
    }
    return true;
  }
}
