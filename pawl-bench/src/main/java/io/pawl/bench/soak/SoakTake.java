package io.pawl.bench.soak;

import io.pawl.counter.OperationId;
import java.util.List;
import java.util.stream.IntStream;

/**
 * One take of a soak. What it is follows from who asks and how often that JVM has asked before, so
 * that nobody needs to write it down. A JVM takes from a counter of its own, as stores like it
 * best, and for a while in turn from one that all share.
 *
 * @param jvm from 0, used once; one that takes another's place has a number larger by {@link
 *     #CLIENTS}
 * @param number from 0
 */
record SoakTake(int jvm, int number) {

  /** How many JVMs take at a time. */
  static final int CLIENTS = 3;

  /** The one that all share, and theirs. */
  static final List<String> COUNTERS =
      IntStream.rangeClosed(0, CLIENTS).mapToObj(number -> "soak-" + number).toList();

  /** What a counter is given, as a share of what will be asked of it: most of them sell out. */
  private static final List<Double> STOCK_SHARES = List.of(0.8, 0.3, 0.6, 2.0);

  private static final int TAKES_IN_A_ROW = 5_000;
  private static final int LARGEST_AMOUNT = 3;
  private static final double MEAN_AMOUNT = (1 + LARGEST_AMOUNT) / 2.0;

  /** What {@code counter} has in the beginning, where {@code takes} are made in all. */
  static long stock(int counter, long takes) {
    double asked = MEAN_AMOUNT * takes / COUNTERS.size();
    return Math.round(STOCK_SHARES.get(counter) * asked);
  }

  /**
   * @throws IllegalArgumentException where no soak makes such ids
   */
  static SoakTake parse(String id) {
    String[] words = id.split("-", -1);
    if (words.length != 2) {
      throw new IllegalArgumentException("'" + id + "' is no take's id");
    }
    SoakTake take = new SoakTake(Integer.parseInt(words[0]), Integer.parseInt(words[1]));
    if (!take.text().equals(id)) {
      throw new IllegalArgumentException("'" + id + "' is no take's id");
    }
    return take;
  }

  String text() {
    return jvm + "-" + number;
  }

  OperationId id() {
    return OperationId.of(text());
  }

  String counter() {
    boolean shared = number / TAKES_IN_A_ROW % COUNTERS.size() == CLIENTS;
    return COUNTERS.get(shared ? 0 : 1 + jvm % CLIENTS);
  }

  long amount() {
    return 1 + number % LARGEST_AMOUNT;
  }
}
