package io.pawl;

import java.util.Random;

/** What goes wrong between the clients and the store of one simulated world, by seed. */
final class Faults {

  /** What becomes of one request. */
  enum Fate {
    ANSWERED,
    /** It fails at once and never arrives. */
    REFUSED,
    /** It never arrives. */
    REQUEST_LOST,
    /** It is applied, and its answer lost. */
    REPLY_LOST,
    /** It arrives after its sender has given it up. */
    LATE,
    /** It is applied at once and once more after its sender has given it up. */
    TWICE,
    /** The store throws something of its own. */
    BROKEN
  }

  private static final long MILLI = 1_000_000;

  private final Random random;
  private final EventQueue queue;
  private final long leaseNanos;
  private final long endAt;
  private final double failureRate;
  private final double slowRate;
  private final double bellLossRate;
  private final long roundTripNanos;
  private final long timeoutNanos;
  private long downUntil;
  private long lastLateArrival;

  Faults(Random random, EventQueue queue, long leaseNanos, long endAt) {
    this.random = random;
    this.queue = queue;
    this.leaseNanos = leaseNanos;
    this.endAt = endAt;
    this.failureRate = random.nextInt(3) * 0.15;
    this.slowRate = random.nextInt(3) * 0.1;
    this.bellLossRate = random.nextInt(4) * 0.33;
    this.roundTripNanos = (1 + random.nextInt(50)) * leaseNanos / 1000;
    this.timeoutNanos = roundTripNanos + between(leaseNanos / 20, 2 * leaseNanos);
  }

  boolean active() {
    return queue.now() < endAt;
  }

  /** After this nothing that went wrong earlier comes in any more. */
  long quietFrom() {
    return Math.max(endAt, lastLateArrival);
  }

  long roundTripNanos() {
    return roundTripNanos;
  }

  long timeoutNanos() {
    return timeoutNanos;
  }

  /** Takes the store down for a while. */
  void outage() {
    downUntil = Math.min(endAt, queue.now() + between(0, 2 * leaseNanos));
  }

  Fate next() {
    if (!active()) {
      return Fate.ANSWERED;
    }
    if (queue.now() < downUntil) {
      return random.nextBoolean() ? Fate.REFUSED : Fate.REQUEST_LOST;
    }
    if (random.nextDouble() >= failureRate) {
      return Fate.ANSWERED;
    }
    Fate[] all = Fate.values();
    Fate fate = all[1 + random.nextInt(all.length - 1)];
    return fate == Fate.BROKEN && random.nextInt(10) > 0 ? Fate.LATE : fate;
  }

  /** One way over the network. */
  long delay() {
    long usual = between(0, roundTripNanos);
    return active() && random.nextDouble() < slowRate ? between(0, 2 * leaseNanos) : usual;
  }

  /** How long after it was given up a late request arrives; the engine withdraws it meanwhile. */
  long lateness() {
    long longest = Math.min(3 * leaseNanos, 50_000 * MILLI);
    long late = between(0, random.nextBoolean() ? longest : Math.min(longest, leaseNanos / 10));
    lastLateArrival = Math.max(lastLateArrival, queue.now() + timeoutNanos + late);
    return late;
  }

  boolean losesBell() {
    return active() && random.nextDouble() < bellLossRate;
  }

  boolean repeatsBell() {
    return active() && random.nextInt(10) == 0;
  }

  boolean omitsFromAnswer() {
    return active() && random.nextInt(30) == 0;
  }

  private long between(long least, long most) {
    return least + (long) (random.nextDouble() * (most - least));
  }
}
