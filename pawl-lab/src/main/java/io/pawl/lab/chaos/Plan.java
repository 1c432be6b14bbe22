package io.pawl.lab.chaos;

import io.pawl.lab.chaos.Fault.Kind;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.Deque;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.Set;

/**
 * One fault after another, all of which follow from the seed. Each kind comes in each round, on
 * each server, in an order of the round's own: first what few stores have, and on no second server
 * before each kind has come once. A worker that is stopped for longer than its leases comes first
 * of all: it is what the unfenced register has to see. Before each further round nothing is wrong
 * for so long that waits can be judged.
 */
final class Plan {

  private static final long SHORTEST_GAP = 300;
  private static final long LONGEST_GAP = 1_200;
  private static final int FIRST_LEASES = 4;
  private static final int MOST_REPLIES = 6;

  private final Random random;
  private final Fault.Scene scene;
  private final long leaseMillis;
  private final long calmMillis;
  private final Deque<Fault> round = new ArrayDeque<>();
  private int rounds;

  /**
   * @param scene where they are to be played
   * @param leaseMillis of the workers
   * @param calmMillis how long nothing is wrong between two rounds
   */
  Plan(long seed, Fault.Scene scene, long leaseMillis, long calmMillis) {
    this.random = new Random(seed);
    this.scene = scene;
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
    for (Kind kind : Kind.possible(scene)) {
      for (int part = 0; part < (kind.isOfWorker() ? 1 : scene.servers()); part++) {
        int picked = kind.isOfWorker() ? random.nextInt(Integer.MAX_VALUE) : part;
        faults.add(fault(kind, picked, lasting()));
      }
    }
    Collections.shuffle(faults, random);
    faults.sort(Comparator.comparing(fault -> !fault.kind().isOfFewStores())); // stable
    Set<Kind> seen = EnumSet.noneOf(Kind.class);
    List<Fault> inOrder = new ArrayList<>();
    List<Fault> again = new ArrayList<>();
    faults.forEach(fault -> (seen.add(fault.kind()) ? inOrder : again).add(fault));
    inOrder.addAll(again);
    return inOrder;
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
