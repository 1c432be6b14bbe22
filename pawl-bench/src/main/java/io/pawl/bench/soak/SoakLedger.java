package io.pawl.bench.soak;

import java.util.function.Consumer;

/** Counters and their ledgers as a service stores them, read without Pawl. */
interface SoakLedger {

  /** What a counter's row says. */
  record Row(long value, long floor) {}

  /**
   * What the ledger says of one operation, in the words of {@link io.pawl.counter.Outcome.Status}.
   */
  record Line(String id, String status, long change) {}

  Row row(String counter);

  /** Shows each line once. */
  void lines(String counter, Consumer<Line> to);
}
