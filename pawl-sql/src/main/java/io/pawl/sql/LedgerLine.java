package io.pawl.sql;

import io.pawl.Outcome;
import io.pawl.spi.LedgerEntry;

/**
 * A line of a counter's ledger as it is stored.
 *
 * @param number counted up by the counter, from 1
 */
record LedgerLine(String counter, long number, LedgerEntry entry) {

  /** Whether it has a row among the open reservations. */
  boolean isOpenReservation() {
    return entry.status() == Outcome.Status.RESERVED;
  }
}
