package io.pawl.sql;

import io.pawl.spi.CounterView;

/**
 * A counter as it is stored.
 *
 * @param lastLine the number of its ledger's latest line
 */
record CounterRow(CounterView view, long lastLine) {

  static CounterRow unknown(String name) {
    return new CounterRow(CounterView.unknown(name), 0);
  }
}
