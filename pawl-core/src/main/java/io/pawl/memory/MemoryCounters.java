package io.pawl.memory;

import io.pawl.spi.CounterAnswer;
import io.pawl.spi.CounterRequest;
import io.pawl.spi.CounterView;
import io.pawl.spi.LedgerEntry;
import io.pawl.spi.rule.CounterRule;
import io.pawl.spi.rule.CounterState;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The {@link CounterRule} on a map of whole counters. Guarded by its store's mutex. Times are
 * milliseconds since 1970.
 */
final class MemoryCounters {

  /** How many operations a counter remembers; it forgets once in a tenth as many. */
  private static final int KEPT = 100_000;

  private final TreeMap<String, CounterState> counters = new TreeMap<>();

  boolean has(String name) {
    return counters.containsKey(name);
  }

  CounterAnswer apply(CounterRequest request, long now) {
    Map<String, CounterState> named = new HashMap<>();
    for (String name : request.operations().keySet()) {
      CounterState known = counters.get(name);
      named.put(name, known != null ? known : newState(name));
    }
    CounterAnswer answer = CounterRule.apply(named, request, now);
    named.forEach((name, state) -> keep(name, state, now));
    return answer;
  }

  private static CounterState newState(String name) {
    return new CounterState(CounterView.unknown(name), List.of());
  }

  private void keep(String name, CounterState state, long now) {
    if (!state.takeChanges().isEmpty()) {
      counters.put(name, state);
    }
    int size = state.entries().size();
    if (size > KEPT && size % (KEPT / 10) == 0) {
      state.forgetBeyond(KEPT, now);
      state.takeForgotten();
    }
  }

  Optional<CounterView> read(String name, long now) {
    return Optional.ofNullable(settled(name, now)).map(CounterState::view);
  }

  List<CounterView> list(String after, int limit) {
    return counters.tailMap(after, false).values().stream()
        .limit(limit)
        .map(CounterState::view)
        .toList();
  }

  List<LedgerEntry> history(String name, int limit, long now) {
    CounterState state = settled(name, now);
    if (state == null) {
      return List.of();
    }
    List<LedgerEntry> entries = new ArrayList<>(state.entries());
    Collections.reverse(entries);
    return entries.stream().limit(limit).toList();
  }

  long prune(String name, long beforeMillis, long now) {
    CounterState state = settled(name, now);
    if (state == null) {
      return 0;
    }
    state.forget(beforeMillis, now);
    return state.takeForgotten().size();
  }

  private @Nullable CounterState settled(String name, long now) {
    CounterState state = counters.get(name);
    if (state != null) {
      CounterRule.settle(state, now);
      state.takeChanges();
    }
    return state;
  }
}
