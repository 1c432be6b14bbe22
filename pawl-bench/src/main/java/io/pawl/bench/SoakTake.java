package io.pawl.bench;

import io.pawl.OperationId;
import java.util.List;
import java.util.stream.IntStream;

/**
 * One take of a soak. What it is follows from who asks and how often that JVM has asked before, so
 * that nobody needs to write it down.
 *
 * @param jvm from 0, used once
 * @param number from 0
 */
record SoakTake(int jvm, int number) {

  static final List<String> COUNTERS =
      IntStream.range(0, 4).mapToObj(number -> "soak-" + number).toList();

  /** What a counter is given, as a share of what will be asked of it: most of them sell out. */
  private static final List<Double> STOCK_SHARES = List.of(0.1, 0.5, 0.9, 2.0);

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
    return COUNTERS.get(number % COUNTERS.size());
  }

  long amount() {
    return 1 + number / COUNTERS.size() % LARGEST_AMOUNT;
  }
}
