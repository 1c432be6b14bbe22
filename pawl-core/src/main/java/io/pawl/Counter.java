package io.pawl;

import io.pawl.concurrent.Durations;
import io.pawl.counter.Change;
import io.pawl.counter.OperationConflictException;
import io.pawl.counter.OperationId;
import io.pawl.counter.OperationTooOldException;
import io.pawl.counter.Outcome;
import io.pawl.counter.OutcomeUnknownException;
import io.pawl.counter.Reservation;
import io.pawl.counter.Update;
import io.pawl.error.NameInUseException;
import io.pawl.error.StoreException;
import io.pawl.options.PawlOptions;
import io.pawl.spi.Amounts;
import io.pawl.spi.CounterAnswer;
import io.pawl.spi.CounterView;
import io.pawl.spi.Operation;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A number that all clients of a store share, with a floor and a ceiling that it never passes: a
 * stock, a quota, a budget. Obtained from {@link Pawl#counter}; cheap and thread-safe. Until its
 * first change it is 0, with a floor of 0 and a ceiling of 2<sup>53</sup> − 1.
 *
 * <p>Every change happens at most once, by its id: <em>applied</em> means exactly once,
 * <em>refused</em> means not at all, and an unknown outcome can be asked for later ({@link
 * #outcome}). Without an id of yours the client makes one, so that its own repetitions after a lost
 * answer are safe. Give an id where <em>you</em> may repeat a change, after a crash say. Each
 * counter has its own ids. Using the id of one change for another is a conflict.
 *
 * <p>Values, amounts and bounds are within ±(2<sup>53</sup> − 1).
 *
 * <p>Each method is one round trip, and may throw
 *
 * <ul>
 *   <li>{@link IllegalArgumentException} for an invalid amount, bound, time or id, before anything
 *       is sent;
 *   <li>{@link NameInUseException} when the name is a lock's;
 *   <li>{@link OperationConflictException}, {@link OperationTooOldException}: nothing was changed;
 *   <li>{@link OutcomeUnknownException} when a change was sent, and the store gave no answer for
 *       the client's {@link PawlOptions#patience};
 *   <li>{@link StoreException} when certainly nothing was changed, or the call only reads;
 *   <li>{@link IllegalStateException} once the client is closed;
 *   <li>{@link UnsupportedOperationException} when the store has no counters.
 * </ul>
 *
 * None of them can be interrupted, since it is better to wait for the outcome of a change that was
 * sent than to leave it open; the interrupt flag is kept. {@link #async} has the same methods for
 * callers that must not block.
 */
public final class Counter {

  private final Counters counters;
  private final String name;

  Counter(Counters counters, String name) {
    this.counters = counters;
    this.name = name;
  }

  /** Returns the counter's name. */
  public String name() {
    return name;
  }

  /** Returns the same counter with methods that do not block. */
  public AsyncCounter async() {
    return new AsyncCounter(this);
  }

  /** Returns what the counter remembers of its changes. */
  public CounterLedger ledger() {
    return new CounterLedger(counters, name);
  }

  /** Returns the value: what can be taken and what must stay, without open reservations. */
  public long get() {
    return read().value();
  }

  /** Returns the value with its bounds and reservations. */
  public CounterView read() {
    return reading().now();
  }

  Counters.Asked<Optional<CounterView>, CounterView> reading() {
    return counters.look(
        name, store -> store.read(name), view -> view.orElse(CounterView.unknown(name)));
  }

  /**
   * Takes {@code amount} if the value does not fall below the floor.
   *
   * @param amount 1 to 2^53 − 1
   */
  public Change tryTake(long amount) {
    return taking(amount, null).now();
  }

  /** As {@link #tryTake(long)}, applied once however often it is repeated under {@code id}. */
  public Change tryTake(long amount, OperationId id) {
    return taking(amount, id).now();
  }

  Counters.Asked<CounterAnswer, Change> taking(long amount, @Nullable OperationId id) {
    return changing(new Operation.Add(-Amounts.positive("amount", amount)), id);
  }

  /**
   * Adds {@code amount}, or takes it if negative; refused if that passes a bound. Reserved amounts
   * count towards the ceiling. To give back what was taken under an id, use another id.
   *
   * @param amount within ±(2^53 − 1), not 0
   */
  public Change add(long amount) {
    return adding(amount, null).now();
  }

  /** As {@link #add(long)}, applied once however often it is repeated under {@code id}. */
  public Change add(long amount, OperationId id) {
    return adding(amount, id).now();
  }

  Counters.Asked<CounterAnswer, Change> adding(long amount, @Nullable OperationId id) {
    return changing(new Operation.Add(amount), id);
  }

  /** Sets the value or the bounds. */
  public Change update(Update update) {
    return changing(update.operation(), null).now();
  }

  /** As {@link #update(Update)}, applied once however often it is repeated under {@code id}. */
  public Change update(Update update, OperationId id) {
    return changing(update.operation(), id).now();
  }

  Counters.Asked<CounterAnswer, Change> changing(Operation operation, @Nullable OperationId id) {
    return counters.change(
        name,
        operation,
        id,
        (applied, entry) ->
            applied ? new Change.Applied(entry.value()) : new Change.Refused(entry.value()));
  }

  /**
   * Takes {@code amount} for {@code ttl}. Unless it is {@linkplain #confirm confirmed} by then, by
   * the store's clock, it returns to stock, whoever crashed.
   *
   * @param amount 1 to 2^53 − 1
   * @param ttl 1 ms to 100 years
   * @param id of the reservation
   */
  public Reservation reserve(long amount, Duration ttl, OperationId id) {
    return reserving(amount, ttl, id).now();
  }

  Counters.Asked<CounterAnswer, Reservation> reserving(long amount, Duration ttl, OperationId id) {
    Operation operation = new Operation.Reserve(amount, Durations.ttlMillis(ttl));
    return counters.change(
        name,
        operation,
        id,
        (reserved, entry) ->
            reserved
                ? new Reservation.Reserved(entry.value(), Instant.ofEpochMilli(entry.until()))
                : new Reservation.Refused(entry.value()));
  }

  /**
   * Makes a reservation final.
   *
   * @return whether the reservation is final, now or since an earlier call; if not, the amount is
   *     in stock: the deadline has passed, or the reservation was cancelled, refused, or never made
   */
  public boolean confirm(OperationId id) {
    return confirming(id).now();
  }

  Counters.Asked<CounterAnswer, Boolean> confirming(OperationId id) {
    return resolve(Operation.CONFIRM, id);
  }

  /**
   * Returns a reservation to stock. An id that the store has never heard of is closed, as by {@link
   * #outcome}.
   *
   * @return whether the amount is back in stock, for whatever reason; if not, the reservation was
   *     confirmed
   */
  public boolean cancel(OperationId id) {
    return cancelling(id).now();
  }

  Counters.Asked<CounterAnswer, Boolean> cancelling(OperationId id) {
    return resolve(Operation.CANCEL, id);
  }

  private Counters.Asked<CounterAnswer, Boolean> resolve(Operation resolving, OperationId id) {
    return counters.resolve(name, resolving, id, (done, entry) -> done);
  }

  /**
   * Returns what became of the operation. The answer stays true: an id that the store has never
   * heard of is closed, and a change that still arrives under it is refused as a conflict. A closed
   * id is remembered as long as an operation first made now, whatever the id's own time. Once it is
   * forgotten, a change that arrives under it with a time before the question is refused as too
   * old. To make the change after all, repeat it instead of asking; after asking, use another id.
   *
   * @param id such as {@link OutcomeUnknownException#id}
   */
  public Outcome outcome(OperationId id) {
    return asking(id).now();
  }

  Counters.Asked<CounterAnswer, Outcome> asking(OperationId id) {
    return counters.resolve(name, Operation.CLOSE, id, (known, entry) -> Counters.outcome(entry));
  }

  @Override
  public String toString() {
    return "Counter[" + name + " on " + counters.store() + "]";
  }
}
