package io.pawl.spi;

import java.util.Collections;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Operations on one counter, or a basket of them: all are applied, or none. They share one id,
 * which each counter enters into its own ledger.
 *
 * @param id the operations' id, or the id of which {@link Operation.Resolving} ones speak
 * @param issuedMillis when the id was first used, milliseconds since 1970; 0 unknown
 * @param operations by counter, 1 to {@link #MAX_COUNTERS}; either all {@link Operation.Entering}
 *     or all {@link Operation.Resolving}
 * @param recordsRefusal whether a refusal is entered into the ledger: needed where anybody may
 *     repeat the request, since what was refused must not be applied later. Not for a first request
 *     under an id that nobody else knows.
 */
public record CounterRequest(
    String id, long issuedMillis, SortedMap<String, Operation> operations, boolean recordsRefusal) {

  /** How many counters one basket may have. */
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

  /** For one counter. */
  public static CounterRequest of(
      String counter, String id, long issuedMillis, Operation operation, boolean recordsRefusal) {
    return new CounterRequest(
        id, issuedMillis, new TreeMap<>(Map.of(counter, operation)), recordsRefusal);
  }

  /** The same, sent again: from now on a late copy of it may be under way. */
  public CounterRequest repeated() {
    return recordsRefusal ? this : new CounterRequest(id, issuedMillis, operations, true);
  }

  /** Whether it changes counters, rather than speaking of changes. */
  public boolean enters() {
    return operations.get(operations.firstKey()) instanceof Operation.Entering;
  }
}
