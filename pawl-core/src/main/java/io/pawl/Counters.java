package io.pawl;

import io.pawl.counter.BasketChange;
import io.pawl.counter.OperationConflictException;
import io.pawl.counter.OperationId;
import io.pawl.counter.OperationTooOldException;
import io.pawl.counter.Outcome;
import io.pawl.counter.OutcomeUnknownException;
import io.pawl.engine.Engine;
import io.pawl.spi.Amounts;
import io.pawl.spi.CounterAnswer;
import io.pawl.spi.CounterRequest;
import io.pawl.spi.CounterStore;
import io.pawl.spi.CounterView;
import io.pawl.spi.LedgerEntry;
import io.pawl.spi.Operation;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The counters of one client: what users ask, as requests to the store, and its answers. */
final class Counters {

  /** Of as many digits as any that follows. */
  private static final long FIRST_OPERATION = Long.parseLong("1000000000", 36);

  private final Engine engine;
  private final AtomicLong operations = new AtomicLong();
  private final LongAdder refused = new LongAdder();

  Counters(Engine engine) {
    this.engine = engine;
  }

  /** An id that nobody else uses, so that a change can be repeated. Consecutive ones sort so. */
  private OperationId newOperationId() {
    String number = Long.toString(FIRST_OPERATION + operations.getAndIncrement(), 36);
    return OperationId.of(engine.clientId() + '.' + number, now());
  }

  /** {@code id} with the time of its first use, which is now unless it says so. */
  private OperationId dated(OperationId id) {
    return id.issued() != null ? id : OperationId.of(id.text(), now());
  }

  /** Milliseconds since 1970; 0 unknown. */
  private static long issuedMillis(OperationId id) {
    Instant issued = id.issued();
    return issued == null ? 0 : issued.toEpochMilli();
  }

  static Outcome outcome(LedgerEntry entry) {
    return new Outcome(
        entry.id(),
        Outcome.Status.valueOf(entry.status().name()),
        entry.operation().toString(),
        entry.change(),
        entry.value(),
        Instant.ofEpochMilli(entry.at()),
        entry.until() == 0 ? null : Instant.ofEpochMilli(entry.until()));
  }

  private Instant now() {
    return Instant.ofEpochMilli(engine.time().wallMillis());
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

  /** How many changes were answered with a refusal. */
  long refused() {
    return refused.sum();
  }

  String store() {
    return engine.store().describe();
  }

  private CounterStore counterStore() {
    if (engine.store() instanceof CounterStore counters && counters.hasCounters()) {
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
    OperationId dated = id == null ? newOperationId() : dated(id);
    CounterRequest request =
        new CounterRequest(dated.text(), issuedMillis(dated), operations, id != null);
    return send(store, dated, request, reading);
  }

  /** Something about an operation; when its id was first used is known only if it says so. */
  <T> Asked<CounterAnswer, T> resolve(
      String counter, Operation resolving, OperationId id, EntryReading<T> reading) {
    CounterRequest request =
        CounterRequest.of(counter, id.text(), issuedMillis(id), resolving, true);
    return send(counterStore(), id, request, single(reading));
  }

  private static <T> Reading<T> single(EntryReading<T> reading) {
    return (applied, entries) -> reading.of(applied, entries.values().iterator().next());
  }

  private <T> Asked<CounterAnswer, T> send(
      CounterStore store, OperationId id, CounterRequest request, Reading<T> reading) {
    String names = String.join(", ", request.operations().keySet());
    CounterCall<CounterAnswer> call =
        new CounterCall<>(
            engine,
            names,
            id,
            repeated -> store.apply(repeated ? request.repeated() : request),
            true);
    return new Asked<>(
        call,
        answer -> {
          OutcomeUnknownException unknown = call.unknownStill();
          if (answer instanceof CounterAnswer.TooOld && unknown != null && changes(request)) {
            throw unknown; // the ledger has forgotten the copy that may have been applied
          }
          return read(id, request, answer, reading);
        });
  }

  private static boolean changes(CounterRequest request) {
    return !request.operations().values().stream().allMatch(Operation.Close.class::isInstance);
  }

  private <T> T read(
      OperationId id, CounterRequest request, CounterAnswer answer, Reading<T> reading) {
    if (answer instanceof CounterAnswer.Applied applied) {
      return reading.of(true, applied.entries());
    }
    if (answer instanceof CounterAnswer.Refused no) {
      refused.increment();
      return reading.of(false, no.entries());
    }
    if (answer instanceof CounterAnswer.TooOld old) {
      Instant keptFrom = Instant.ofEpochMilli(old.keptFromMillis());
      throw new OperationTooOldException(old.counter(), id, keptFrom);
    }
    CounterAnswer.Conflict conflict = (CounterAnswer.Conflict) answer;
    String asked = String.valueOf(request.operations().get(conflict.counter()));
    throw new OperationConflictException(conflict.counter(), id, asked, conflict.recorded());
  }

  /**
   * @throws IllegalArgumentException where {@code before} is not between 1970 and now
   */
  void checkPast(String counter, Instant before) {
    Instant now = now();
    if (before.isBefore(Instant.EPOCH) || !before.isBefore(now.plusMillis(1))) {
      throw new IllegalArgumentException(
          "counter '" + counter + "': before " + before + " is not between 1970 and now, " + now);
    }
  }

  /** A question that changes nothing. */
  <A, T> Asked<A, T> look(
      String counter, Function<CounterStore, CompletionStage<A>> question, Function<A, T> reading) {
    CounterStore store = counterStore();
    return new Asked<>(
        new CounterCall<>(engine, counter, null, repeated -> question.apply(store), true), reading);
  }

  /** As {@link CounterLedger#prune}, which may take minutes: who closes does not wait for it. */
  long prune(String counter, Instant before) {
    checkPast(counter, before);
    CounterStore store = counterStore();
    return new CounterCall<>(engine, counter, null, repeated -> store.prune(counter, before), false)
        .now(count -> count);
  }

  CounterLedger ledger(String counter) {
    return new CounterLedger(this, counter);
  }

  List<String> namesAfter(String name, int limit) {
    return look(
            name.isEmpty() ? "*" : name,
            store -> store.list(name, limit),
            (List<CounterView> views) -> views.stream().map(CounterView::name).toList())
        .now();
  }

  Asked<CounterAnswer, BasketChange> takeAll(Map<String, Long> amounts, OperationId id) {
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
          Map<String, Long> values = new TreeMap<>();
          entries.forEach((counter, entry) -> values.put(counter, entry.value()));
          return applied ? new BasketChange.Applied(values) : new BasketChange.Refused(values);
        });
  }
}
