package io.pawl.spi;

import java.util.Collections;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/** A store's answer to a {@link CounterRequest}. */
public sealed interface CounterAnswer {

  /**
   * All operations are done, by this request or by an earlier one under the same id.
   *
   * @param entries the entry in the ledger of each counter
   */
  record Applied(SortedMap<String, LedgerEntry> entries) implements CounterAnswer {
    public Applied {
      entries = copy(entries);
    }
  }

  /**
   * None of the operations is done, and none will be.
   *
   * @param entries an entry for each counter, whose {@code value} says what is left; not in the
   *     ledger unless {@link CounterRequest#recordsRefusal}
   */
  record Refused(SortedMap<String, LedgerEntry> entries) implements CounterAnswer {
    public Refused {
      entries = copy(entries);
    }
  }

  /**
   * The id stands for another operation on {@code counter}; nothing was changed.
   *
   * @param recorded the operation that it stands for, for a message
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
