package io.pawl.sql.transaction;

import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/** Counts what is done for one kind of requests. Thread-safe. */
public final class Tally {

  private final LongAdder batches = new LongAdder();
  private final LongAdder requests = new LongAdder();
  private final LongAdder repeated = new LongAdder();
  private final LongAdder putOff = new LongAdder();

  /** {@code n} requests were decided in one batch. */
  public void decided(long n) {
    if (n > 0) {
      batches.increment();
      requests.add(n);
    }
  }

  /** A transaction met a conflict or a lost connection, and is run again. */
  void repeats() {
    repeated.increment();
  }

  /** A request begins to wait for a row that somebody else keeps locked. */
  void putsOff() {
    putOff.increment();
  }

  /** Adds what was counted to {@code figures}, by names that begin with {@code of}. */
  public void addTo(Map<String, Long> figures, String of) {
    figures.put(of + ".batches", batches.sum());
    figures.put(of + ".requests", requests.sum());
    figures.put(of + ".repeated", repeated.sum());
    figures.put(of + ".putOff", putOff.sum());
  }
}
