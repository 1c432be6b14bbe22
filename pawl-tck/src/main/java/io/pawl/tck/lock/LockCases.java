package io.pawl.tck.lock;

import static io.pawl.tck.rig.Bench.eventually;

import io.pawl.DistributedLock;
import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.tck.rig.Bench;
import io.pawl.tck.rig.FaultyStore;
import io.pawl.tck.rig.FaultyStore.Verb;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/**
 * Cases of the API: {@code here} is the client under test, over a store whose faults are at hand;
 * {@code there} is another client of the service.
 */
public abstract class LockCases {

  final Bench bench;
  FaultyStore network;
  Pawl here;
  Pawl there;

  @SuppressWarnings("NullAway.Init") // the clients are opened when the subclass is ready for them
  protected LockCases(Bench bench) {
    this.bench = bench;
  }

  @BeforeEach
  final void openTwoClients() {
    network = bench.faulty();
    here = bench.over(network);
    there = bench.pawl();
  }

  /** So that no client waits for a store that is down when it is closed. */
  @AfterEach
  final void healTheNetwork() {
    network.close();
  }

  /** A lock under a long lease, as {@code here} sees it. */
  DistributedLock lockHere(String lock) {
    return here.lock(lock, Bench.LONG);
  }

  DistributedLock lockThere(String lock) {
    return there.lock(lock, Bench.LONG);
  }

  /** Starts {@code wait}, and returns once its claim stands in the store's queue. */
  <T> Bench.Running<T> standInLine(Callable<T> wait) {
    int before = network.answers(Verb.ATTEMPT);
    Bench.Running<T> running = bench.start(wait);
    eventually(() -> network.answers(Verb.ATTEMPT) > before);
    return running;
  }

  /** So many claims of {@code here} have ended at the store; with the lock held, by leaving. */
  void assertLeftTheLine(int claims) {
    eventually(() -> network.answers(Verb.WITHDRAW) >= claims);
  }

  /** The lock is free: nobody holds it, and no claim in the queue was granted it. */
  void assertComesFree(String lock) {
    eventually(
        () -> {
          Optional<Lease> lease = lockThere(lock).tryAcquire();
          lease.ifPresent(Lease::close);
          return lease.isPresent();
        });
  }
}
