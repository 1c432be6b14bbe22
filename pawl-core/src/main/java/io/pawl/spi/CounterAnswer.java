package io.pawl.spi;

import java.util.Collections;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/** What a store says to a {@link CounterRequest}. */
public sealed interface CounterAnswer {

  /**
   * All of it is done, by this request or by an earlier one under the same id.
   *
   * @param entries as they stand in the ledger of each counter
   */
  record Applied(SortedMap<String, LedgerEntry> entries) implements CounterAnswer {
    public Applied {
      entries = copy(entries);
    }
  }

  /**
   * Nothing of it is done, and nothing of it will be.
   *
   * @param entries of each counter, whose {@code value} says what is left; not in the ledger unless
   *     {@link CounterRequest#recordsRefusal}
   */
  record Refused(SortedMap<String, LedgerEntry> entries) implements CounterAnswer {
    public Refused {
      entries = copy(entries);
    }
  }

  /**
   * The id stands for something else on {@code counter}; nothing was changed.
   *
   * @param recorded what it stands for, for a message
   */
  record Conflict(String counter, String recorded) implements CounterAnswer {

    /** The id stands for {@code entry}. */
    public static Conflict with(String counter, LedgerEntry entry) {
      return new Conflict(
          counter,
          entry.operation() instanceof Operation.Close
              ? "an operation that had not arrived when its outcome was asked for, and was closed"
              : entry.operation() + ", " + entry.status());
    }

    /** The id stands for {@code entry}, as asked, but not for the rest of the basket. */
    public static Conflict ofBasket(String counter, LedgerEntry entry) {
      return new Conflict(
          counter,
          with(counter, entry).recorded
              + ", and for something else or nothing on other counters of this basket");
    }
  }

  /**
   * The id is not known on {@code counter} and is from before what the counter remembers; nothing
   * was changed.
   */
  record TooOld(String counter, long keptFromMillis) implements CounterAnswer {}

  private static SortedMap<String, LedgerEntry> copy(Map<String, LedgerEntry> entries) {
    return Collections.unmodifiableSortedMap(new TreeMap<>(entries));
  }
}
