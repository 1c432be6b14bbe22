package io.pawl.spi.rule;

import io.pawl.error.StoreException;
import io.pawl.spi.Amounts;
import io.pawl.spi.CounterAnswer;
import io.pawl.spi.CounterRequest;
import io.pawl.spi.CounterStore;
import io.pawl.spi.LedgerEntry;
import io.pawl.spi.LedgerEntry.Status;
import io.pawl.spi.Operation;
import io.pawl.spi.Operation.Add;
import io.pawl.spi.Operation.Cancel;
import io.pawl.spi.Operation.Close;
import io.pawl.spi.Operation.CompareAndSet;
import io.pawl.spi.Operation.Confirm;
import io.pawl.spi.Operation.Reserve;
import io.pawl.spi.Operation.SetBounds;
import io.pawl.spi.Operation.SetTo;
import java.time.Instant;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Decides operations on counters: the rule that every store of counters follows. It is a pure
 * function of state, request and time in milliseconds since 1970. Memory and SQL run it; a
 * differential test compares it with a store that restates it.
 *
 * <ol>
 *   <li>Reservations that are due return to stock, the earliest first.
 *   <li>The answer for a known id comes from the ledger, the same as the first time; if the id
 *       stands for another operation, that is a conflict. An id that may have been forgotten is
 *       refused as too old.
 *   <li>An id that is closed because a question found it unknown counts as first used at the
 *       question, so that the answer outlasts everything older.
 *   <li>The operations are applied if each of them can be, otherwise none: a value stays at or
 *       above its floor, and value and reserved amount together stay at or below the ceiling; at
 *       most {@link Amounts#MAX} is reserved.
 * </ol>
 */
public final class CounterRule {

  private CounterRule() {}

  /** The counter after an operation, not yet made true. */
  private record After(long value, long floor, long ceiling, long reserved) {

    boolean isWithinBounds() {
      return floor <= value && value + reserved <= ceiling && reserved <= Amounts.MAX;
    }
  }

  /**
   * {@link CounterStore#apply}.
   *
   * @param states of every counter of the request, each with its entry of the request's id if there
   *     is one, and with the reservations due by {@code now}
   */
  public static CounterAnswer apply(
      Map<String, CounterState> states, CounterRequest request, long now) {
    request.operations().keySet().forEach(name -> settle(state(states, name), now));
    return request.enters() ? enter(states, request, now) : resolve(states, request, now);
  }

  /**
   * Checks the time before a store prunes: afterwards ids of that time are refused, and nothing
   * brings them back.
   *
   * @param now by the store's clock
   * @throws StoreException when {@code beforeMillis} is later than {@code now}
   */
  public static void checkPast(String counter, long beforeMillis, long now) {
    if (beforeMillis > now) {
      throw new StoreException(
          "counter '"
              + counter
              + "': cannot forget what was first used before "
              + Instant.ofEpochMilli(beforeMillis)
              + ", which is still to come: the store's time is "
              + Instant.ofEpochMilli(now)
              + "; name a time that has passed");
    }
  }

  /** Returns the reservations that are due by {@code now} to stock. */
  public static void settle(CounterState state, long now) {
    for (LedgerEntry due = state.nextDue(now); due != null; due = state.nextDue(now)) {
      giveBack(state, due, Status.EXPIRED);
    }
  }

  private static CounterAnswer enter(
      Map<String, CounterState> states, CounterRequest request, long now) {
    TreeMap<String, LedgerEntry> known = new TreeMap<>();
    for (Map.Entry<String, Operation> asked : request.operations().entrySet()) {
      LedgerEntry entry = find(states, asked.getKey(), request);
      if (entry != null && !entry.operation().equals(asked.getValue())) {
        return CounterAnswer.Conflict.with(asked.getKey(), entry);
      }
      if (entry != null) {
        known.put(asked.getKey(), entry);
      }
    }
    if (known.isEmpty()) {
      CounterAnswer tooOld = tooOld(states, request);
      return tooOld != null ? tooOld : decide(states, request, now);
    }
    return replay(states, request, known);
  }

  private static CounterAnswer replay(
      Map<String, CounterState> states,
      CounterRequest request,
      SortedMap<String, LedgerEntry> known) {
    for (String name : request.operations().keySet()) {
      if (!known.containsKey(name)
          && state(states, name).mayHaveForgotten(request.issuedMillis())) {
        return new CounterAnswer.TooOld(name, state(states, name).keptFromMillis());
      }
    }
    long refused = known.values().stream().filter(e -> e.status() == Status.REFUSED).count();
    if (known.size() < request.operations().size() || (refused > 0 && refused < known.size())) {
      String first = known.firstKey();
      return CounterAnswer.Conflict.ofBasket(first, Objects.requireNonNull(known.get(first)));
    }
    return refused > 0 ? new CounterAnswer.Refused(known) : new CounterAnswer.Applied(known);
  }

  private static CounterAnswer decide(
      Map<String, CounterState> states, CounterRequest request, long now) {
    TreeMap<String, After> after = new TreeMap<>();
    for (Map.Entry<String, Operation> asked : request.operations().entrySet()) {
      CounterState state = state(states, asked.getKey());
      After possible = after(state, asked.getValue());
      if (possible == null || !possible.isWithinBounds()) {
        return refuse(states, request, now);
      }
      after.put(asked.getKey(), possible);
    }
    TreeMap<String, LedgerEntry> entries = new TreeMap<>();
    after.forEach(
        (name, made) -> {
          LedgerEntry entry = make(state(states, name), made, request, now);
          entries.put(name, entry);
        });
    return new CounterAnswer.Applied(entries);
  }

  /** What {@code operation} would make of the counter; null where it does not apply. */
  private static @Nullable After after(CounterState state, Operation operation) {
    if (operation instanceof Add add) {
      return withValue(state, state.value + add.amount());
    }
    if (operation instanceof SetTo set) {
      return withValue(state, set.value());
    }
    if (operation instanceof CompareAndSet set) {
      return state.value == set.expected() ? withValue(state, set.value()) : null;
    }
    if (operation instanceof SetBounds bounds) {
      return new After(state.value, bounds.floor(), bounds.ceiling(), state.reserved);
    }
    Reserve reserve = (Reserve) operation;
    return new After(
        state.value - reserve.amount(),
        state.floor,
        state.ceiling,
        state.reserved + reserve.amount());
  }

  private static After withValue(CounterState state, long value) {
    return new After(value, state.floor, state.ceiling, state.reserved);
  }

  private static LedgerEntry make(
      CounterState state, After after, CounterRequest request, long now) {
    Operation operation = Objects.requireNonNull(request.operations().get(state.name));
    boolean reserves = operation instanceof Reserve;
    long change = after.value - state.value;
    state.value = after.value;
    state.floor = after.floor;
    state.ceiling = after.ceiling;
    state.reserved = after.reserved;
    LedgerEntry entry =
        new LedgerEntry(
            request.id(),
            operation,
            reserves ? Status.RESERVED : Status.APPLIED,
            change,
            state.value,
            now,
            request.issuedMillis(),
            operation instanceof Reserve reserve ? now + reserve.ttlMillis() : 0);
    state.enter(entry);
    return entry;
  }

  private static CounterAnswer refuse(
      Map<String, CounterState> states, CounterRequest request, long now) {
    TreeMap<String, LedgerEntry> entries = new TreeMap<>();
    request
        .operations()
        .forEach(
            (name, operation) -> {
              CounterState state = state(states, name);
              LedgerEntry entry =
                  unchanged(state, request, operation, Status.REFUSED, request.issuedMillis(), now);
              if (request.recordsRefusal()) {
                state.enter(entry);
              }
              entries.put(name, entry);
            });
    return new CounterAnswer.Refused(entries);
  }

  private static CounterAnswer resolve(
      Map<String, CounterState> states, CounterRequest request, long now) {
    TreeMap<String, LedgerEntry> entries = new TreeMap<>();
    boolean possible = true;
    for (Map.Entry<String, Operation> asked : request.operations().entrySet()) {
      CounterState state = state(states, asked.getKey());
      LedgerEntry entry = state.find(request.id());
      if (entry == null && state.mayHaveForgotten(request.issuedMillis())) {
        return new CounterAnswer.TooOld(state.name, state.keptFromMillis());
      }
      if (entry == null) {
        long issued = Math.max(request.issuedMillis(), now);
        entry = unchanged(state, request, Operation.CLOSE, Status.NEVER, issued, now);
      } else if (!(asked.getValue() instanceof Close) && !isReservation(entry)) {
        return CounterAnswer.Conflict.with(state.name, entry);
      }
      entries.put(state.name, entry);
      possible &= isPossible(asked.getValue(), entry.status());
    }
    if (!possible) {
      return new CounterAnswer.Refused(entries);
    }
    entries.replaceAll(
        (name, entry) ->
            resolve(
                state(states, name),
                Objects.requireNonNull(request.operations().get(name)),
                entry));
    return new CounterAnswer.Applied(entries);
  }

  private static boolean isReservation(LedgerEntry entry) {
    return entry.operation() instanceof Reserve || entry.operation() instanceof Close;
  }

  private static boolean isPossible(Operation resolving, Status status) {
    if (resolving instanceof Confirm) {
      return status == Status.RESERVED || status == Status.CONFIRMED;
    }
    return resolving instanceof Close || status != Status.CONFIRMED;
  }

  private static LedgerEntry resolve(CounterState state, Operation resolving, LedgerEntry entry) {
    if (entry.status() == Status.NEVER) {
      if (state.find(entry.id()) == null) {
        state.enter(entry);
      }
      return entry;
    }
    if (entry.status() != Status.RESERVED || resolving instanceof Close) {
      return entry;
    }
    if (resolving instanceof Cancel) {
      return giveBack(state, entry, Status.CANCELLED);
    }
    LedgerEntry confirmed = entry.turned(Status.CONFIRMED, entry.change());
    state.reserved -= entry.reserved();
    state.enter(confirmed);
    return confirmed;
  }

  private static LedgerEntry giveBack(CounterState state, LedgerEntry reservation, Status status) {
    LedgerEntry returned = reservation.turned(status, 0);
    state.value += reservation.reserved();
    state.reserved -= reservation.reserved();
    state.enter(returned);
    return returned;
  }

  private static LedgerEntry unchanged(
      CounterState state,
      CounterRequest request,
      Operation operation,
      Status status,
      long issuedMillis,
      long now) {
    return new LedgerEntry(request.id(), operation, status, 0, state.value, now, issuedMillis, 0);
  }

  private static @Nullable CounterAnswer tooOld(
      Map<String, CounterState> states, CounterRequest request) {
    for (String name : request.operations().keySet()) {
      CounterState state = state(states, name);
      if (state.mayHaveForgotten(request.issuedMillis())) {
        return new CounterAnswer.TooOld(name, state.keptFromMillis());
      }
    }
    return null;
  }

  private static @Nullable LedgerEntry find(
      Map<String, CounterState> states, String name, CounterRequest request) {
    return state(states, name).find(request.id());
  }

  private static CounterState state(Map<String, CounterState> states, String name) {
    return Objects.requireNonNull(states.get(name), name);
  }
}
