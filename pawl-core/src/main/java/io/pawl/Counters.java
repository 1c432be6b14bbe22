package io.pawl;

import io.pawl.spi.Amounts;
import io.pawl.spi.CounterAnswer;
import io.pawl.spi.CounterRequest;
import io.pawl.spi.CounterStore;
import io.pawl.spi.LedgerEntry;
import io.pawl.spi.Operation;
import java.time.Instant;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The counters of one client: what users ask, as requests to the store, and its answers. */
final class Counters {

  private final Engine engine;

  Counters(Engine engine) {
    this.engine = engine;
  }

  /** A question that has been put into words and can be asked in either way. */
  record Asked<A, T>(CounterCall<A> call, Function<A, T> reading) {

    T now() {
      return call.now(reading);
    }

    CompletableFuture<T> later() {
      return call.later(reading);
    }
  }

  /** What an answer means to a user: the entries, and whether they were applied. */
  interface Reading<T> {
    T of(boolean applied, SortedMap<String, LedgerEntry> entries);
  }

  /** What an answer about one counter means. */
  interface EntryReading<T> {
    T of(boolean applied, LedgerEntry entry);
  }

  String store() {
    return engine.store().describe();
  }

  private CounterStore counterStore() {
    if (engine.store() instanceof CounterStore counters) {
      return counters;
    }
    throw new UnsupportedOperationException(store() + " has no counters; use another store");
  }

  /**
   * @param id null for one of the engine's own
   */
  <T> Asked<CounterAnswer, T> change(
      String counter, Operation operation, @Nullable OperationId id, EntryReading<T> reading) {
    TreeMap<String, Operation> one = new TreeMap<>(Map.of(counter, operation));
    return change(one, id, single(reading));
  }

  private <T> Asked<CounterAnswer, T> change(
      SortedMap<String, Operation> operations, @Nullable OperationId id, Reading<T> reading) {
    CounterStore store = counterStore();
    OperationId dated = id == null ? engine.newOperationId() : engine.dated(id);
    return send(store, new CounterRequest(dated, operations, id != null), reading);
  }

  /** Something about an operation; when its id was first used is known only if it says so. */
  <T> Asked<CounterAnswer, T> resolve(
      String counter, Operation resolving, OperationId id, EntryReading<T> reading) {
    CounterRequest request = CounterRequest.of(counter, id, resolving, true);
    return send(counterStore(), request, single(reading));
  }

  private static <T> Reading<T> single(EntryReading<T> reading) {
    return (applied, entries) -> reading.of(applied, entries.values().iterator().next());
  }

  private <T> Asked<CounterAnswer, T> send(
      CounterStore store, CounterRequest request, Reading<T> reading) {
    String names = String.join(", ", request.operations().keySet());
    CounterCall<CounterAnswer> call =
        new CounterCall<>(
            engine,
            names,
            request.id(),
            repeated -> store.apply(repeated ? request.repeated() : request));
    return new Asked<>(
        call,
        answer -> {
          OutcomeUnknownException unknown = call.unknownStill();
          if (answer instanceof CounterAnswer.TooOld && unknown != null && changes(request)) {
            throw unknown; // the ledger has forgotten the copy that may have been applied
          }
          return read(request, answer, reading);
        });
  }

  private static boolean changes(CounterRequest request) {
    return !request.operations().values().stream().allMatch(Operation.Close.class::isInstance);
  }

  private static <T> T read(CounterRequest request, CounterAnswer answer, Reading<T> reading) {
    if (answer instanceof CounterAnswer.Applied applied) {
      return reading.of(true, applied.entries());
    }
    if (answer instanceof CounterAnswer.Refused refused) {
      return reading.of(false, refused.entries());
    }
    if (answer instanceof CounterAnswer.TooOld old) {
      Instant keptFrom = Instant.ofEpochMilli(old.keptFromMillis());
      throw new OperationTooOldException(old.counter(), request.id(), keptFrom);
    }
    CounterAnswer.Conflict conflict = (CounterAnswer.Conflict) answer;
    String asked = String.valueOf(request.operations().get(conflict.counter()));
    throw new OperationConflictException(
        conflict.counter(), request.id(), asked, conflict.recorded());
  }

  /**
   * @throws IllegalArgumentException where {@code before} is not between 1970 and now
   */
  void checkPast(String counter, Instant before) {
    Instant now = Instant.ofEpochMilli(engine.time().wallMillis());
    if (before.isBefore(Instant.EPOCH) || before.isAfter(now)) {
      throw new IllegalArgumentException(
          "counter '" + counter + "': before " + before + " is not between 1970 and now, " + now);
    }
  }

  /** A question that changes nothing. */
  <A, T> Asked<A, T> look(
      String counter, Function<CounterStore, CompletionStage<A>> question, Function<A, T> reading) {
    CounterStore store = counterStore();
    return new Asked<>(
        new CounterCall<>(engine, counter, null, repeated -> question.apply(store)), reading);
  }

  Asked<CounterAnswer, TakeAll> takeAll(Map<String, Long> amounts, OperationId id) {
    TreeMap<String, Operation> operations = new TreeMap<>();
    amounts.forEach(
        (counter, amount) -> {
          String what = "amount of '" + counter + "'";
          operations.put(counter, new Operation.Add(-Amounts.positive(what, amount)));
        });
    return change(
        operations,
        id,
        (applied, entries) -> {
          Map<String, Long> left = new TreeMap<>();
          entries.forEach((counter, entry) -> left.put(counter, entry.value()));
          return applied ? new TakeAll.Taken(left) : new TakeAll.Refused(left);
        });
  }
}
