package io.pawl.spi;

import java.util.Collections;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Operations on one counter, or on a basket of counters: all are applied, or none. They share one
 * id, which each counter enters into its own ledger.
 *
 * @param id the operations' id, or the id that {@link Operation.Resolving} operations refer to
 * @param issuedMillis when the id was first used, milliseconds since 1970; 0 if unknown
 * @param operations the operation by counter name, 1 to {@link #MAX_COUNTERS}; either all {@link
 *     Operation.Entering} or all {@link Operation.Resolving}
 * @param recordsRefusal whether a refusal is entered into the ledger. This is needed where anybody
 *     may repeat the request, since a refused operation must not be applied later. It is not needed
 *     for a first request under an id that nobody else knows.
 */
public record CounterRequest(
    String id, long issuedMillis, SortedMap<String, Operation> operations, boolean recordsRefusal) {

  /** The largest number of counters in a basket. */
  public static final int MAX_COUNTERS = 100;

  public CounterRequest {
    operations = Collections.unmodifiableSortedMap(new TreeMap<>(operations));
    if (operations.isEmpty() || operations.size() > MAX_COUNTERS) {
      throw new IllegalArgumentException(
          "basket: " + operations.size() + " counters are not between 1 and " + MAX_COUNTERS);
    }
    operations.keySet().forEach(name -> LockName.check("counter name", name, LockName.MAX_BYTES));
    long entering =
        operations.values().stream().filter(Operation.Entering.class::isInstance).count();
    if (entering != 0 && entering != operations.size()) {
      throw new IllegalArgumentException("basket: mixes changes with what speaks of changes");
    }
  }

  /** Returns a request for one counter. */
  public static CounterRequest of(
      String counter, String id, long issuedMillis, Operation operation, boolean recordsRefusal) {
    return new CounterRequest(
        id, issuedMillis, new TreeMap<>(Map.of(counter, operation)), recordsRefusal);
  }

  /** Returns the same request, sent again: from now on a late copy of it may be under way. */
  public CounterRequest repeated() {
    return recordsRefusal ? this : new CounterRequest(id, issuedMillis, operations, true);
  }

  /** Returns whether the request changes counters, rather than referring to earlier changes. */
  public boolean enters() {
    return operations.get(operations.firstKey()) instanceof Operation.Entering;
  }
}
