package io.pawl.lab.chaos;

import io.pawl.lab.chaos.Fault.Kind;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Random;

/**
 * One fault after another, all of which follow from the seed. Each kind comes in each round, on
 * each server, in an order of the round's own. A worker that is stopped for longer than its leases
 * comes first of all: it is what the unfenced register has to see. Before each further round
 * nothing is wrong for so long that waits can be judged.
 */
final class Plan {

  private static final long SHORTEST_GAP = 300;
  private static final long LONGEST_GAP = 1_200;
  private static final int FIRST_LEASES = 4;
  private static final int MOST_REPLIES = 6;

  private final Random random;
  private final int servers;
  private final long leaseMillis;
  private final long calmMillis;
  private final Deque<Fault> round = new ArrayDeque<>();
  private int rounds;

  /**
   * @param servers how many servers there are
   * @param leaseMillis of the workers
   * @param calmMillis how long nothing is wrong between two rounds
   */
  Plan(long seed, int servers, long leaseMillis, long calmMillis) {
    this.random = new Random(seed);
    this.servers = servers;
    this.leaseMillis = leaseMillis;
    this.calmMillis = calmMillis;
  }

  Fault next() {
    if (rounds == 0) {
      rounds++;
      return fault(
          Kind.WORKER_STOPPED, random.nextInt(Integer.MAX_VALUE), FIRST_LEASES * leaseMillis);
    }
    if (!round.isEmpty()) {
      return round.removeFirst();
    }
    round.addAll(nextRound());
    Fault first = round.removeFirst();
    return rounds++ == 1 ? first : first.after(calmMillis);
  }

  private List<Fault> nextRound() {
    List<Fault> faults = new ArrayList<>();
    for (Kind kind : Kind.possible(servers)) {
      for (int part = 0; part < (kind.isOfWorker() ? 1 : servers); part++) {
        int picked = kind.isOfWorker() ? random.nextInt(Integer.MAX_VALUE) : part;
        faults.add(fault(kind, picked, lasting()));
      }
    }
    Collections.shuffle(faults, random);
    return faults;
  }

  private Fault fault(Kind kind, int part, long millis) {
    long gap = SHORTEST_GAP + random.nextInt((int) (LONGEST_GAP - SHORTEST_GAP));
    return new Fault(gap, kind, part, millis, 1 + random.nextInt(MOST_REPLIES));
  }

  /** From a twentieth of a lease to three leases, short ones as often as long ones. */
  private long lasting() {
    return Math.round(leaseMillis / 20.0 * Math.pow(60, random.nextDouble()));
  }
}
