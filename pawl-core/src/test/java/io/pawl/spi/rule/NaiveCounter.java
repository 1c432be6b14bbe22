package io.pawl.spi.rule;

import io.pawl.spi.Amounts;
import io.pawl.spi.CounterRequest;
import io.pawl.spi.Operation;
import java.util.HashMap;
import java.util.Map;

/** Counters told as a story: slow, obvious, and written without a look at {@link CounterRule}. */
final class NaiveCounter {

  /** What an id stands for: an operation in words, and how it went. */
  private static final class Memory {
    final String what;
    String how;
    long amount;
    long until;

    Memory(String what, String how) {
      this.what = what;
      this.how = how;
    }
  }

  long value;
  long floor;
  long ceiling = Amounts.MAX;
  private final Map<String, Memory> memories = new HashMap<>();

  long reserved() {
    return memories.values().stream()
        .filter(memory -> memory.how.equals("open"))
        .mapToLong(memory -> memory.amount)
        .sum();
  }

  void expire(long now) {
    for (Memory memory : memories.values()) {
      if (memory.how.equals("open") && memory.until <= now) {
        memory.how = "returned";
        value += memory.amount;
      }
    }
  }

  /** Answers the name of the answer. */
  static String apply(Map<String, NaiveCounter> counters, CounterRequest request, long now) {
    String id = request.id();
    int known = 0;
    int refused = 0;
    for (Map.Entry<String, Operation> asked : request.operations().entrySet()) {
      Memory memory = counters.get(asked.getKey()).memories.get(id);
      boolean resolves = asked.getValue() instanceof Operation.Resolving;
      if (memory != null) {
        boolean other =
            resolves
                ? !(asked.getValue() instanceof Operation.Close)
                    && !memory.what.startsWith("reserve")
                    && !memory.how.equals("never")
                : !memory.what.equals(asked.getValue().toString());
        if (other) {
          return "Conflict";
        }
        known++;
        refused += memory.how.equals("refused") ? 1 : 0;
      }
    }
    if (request.operations().get(request.operations().firstKey()) instanceof Operation.Resolving) {
      return resolve(counters, request, id);
    }
    int all = request.operations().size();
    if (known > 0) {
      return known < all || (refused > 0 && refused < all)
          ? "Conflict"
          : refused > 0 ? "Refused" : "Applied";
    }
    boolean possible =
        request.operations().entrySet().stream()
            .allMatch(asked -> counters.get(asked.getKey()).can(asked.getValue()));
    request
        .operations()
        .forEach((name, operation) -> counters.get(name).enter(id, operation, possible, now));
    return possible ? "Applied" : "Refused";
  }

  private boolean can(Operation operation) {
    long whole = value + reserved();
    if (operation instanceof Operation.Add add) {
      return value + add.amount() >= floor && whole + add.amount() <= ceiling;
    }
    if (operation instanceof Operation.SetTo set) {
      return set.value() >= floor && set.value() + reserved() <= ceiling;
    }
    if (operation instanceof Operation.CompareAndSet set) {
      return value == set.expected() && set.value() >= floor && set.value() + reserved() <= ceiling;
    }
    if (operation instanceof Operation.SetBounds bounds) {
      return bounds.floor() <= value && whole <= bounds.ceiling();
    }
    return value - ((Operation.Reserve) operation).amount() >= floor;
  }

  private void enter(String id, Operation operation, boolean possible, long now) {
    Memory memory = new Memory(operation.toString(), possible ? "applied" : "refused");
    memories.put(id, memory);
    if (!possible) {
      return;
    }
    if (operation instanceof Operation.Add add) {
      value += add.amount();
    } else if (operation instanceof Operation.SetTo set) {
      value = set.value();
    } else if (operation instanceof Operation.CompareAndSet set) {
      value = set.value();
    } else if (operation instanceof Operation.SetBounds bounds) {
      floor = bounds.floor();
      ceiling = bounds.ceiling();
    } else if (operation instanceof Operation.Reserve reserve) {
      value -= reserve.amount();
      memory.how = "open";
      memory.amount = reserve.amount();
      memory.until = now + reserve.ttlMillis();
    }
  }

  private static String resolve(
      Map<String, NaiveCounter> counters, CounterRequest request, String id) {
    for (Map.Entry<String, Operation> asked : request.operations().entrySet()) {
      Memory memory = counters.get(asked.getKey()).memories.get(id);
      String how = memory == null ? "never" : memory.how;
      if (asked.getValue() instanceof Operation.Confirm
          && !how.equals("open")
          && !how.equals("confirmed")) {
        return "Refused";
      }
      if (asked.getValue() instanceof Operation.Cancel && how.equals("confirmed")) {
        return "Refused";
      }
    }
    request.operations().forEach((name, operation) -> counters.get(name).resolve(id, operation));
    return "Applied";
  }

  private void resolve(String id, Operation operation) {
    Memory memory = memories.computeIfAbsent(id, key -> new Memory("close", "never"));
    if (memory.how.equals("open") && operation instanceof Operation.Confirm) {
      memory.how = "confirmed";
    } else if (memory.how.equals("open") && operation instanceof Operation.Cancel) {
      memory.how = "returned";
      value += memory.amount;
    }
  }
}
