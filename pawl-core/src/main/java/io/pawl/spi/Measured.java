package io.pawl.spi;

import java.util.Map;

/** A store that counts what it does. Thread-safe. */
public interface Measured {

  /**
   * Returns what was counted since the store was opened, by names such as {@code locks.batches}:
   * always the same names, and numbers that only grow. No round trip.
   */
  Map<String, Long> figures();
}
