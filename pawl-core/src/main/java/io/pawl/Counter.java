package io.pawl;

import io.pawl.concurrent.Durations;
import io.pawl.counter.Change;
import io.pawl.counter.OperationConflictException;
import io.pawl.counter.OperationId;
import io.pawl.counter.OperationTooOldException;
import io.pawl.counter.Outcome;
import io.pawl.counter.OutcomeUnknownException;
import io.pawl.counter.Reservation;
import io.pawl.counter.Take;
import io.pawl.error.NameInUseException;
import io.pawl.error.StoreException;
import io.pawl.options.PawlOptions;
import io.pawl.spi.Amounts;
import io.pawl.spi.CounterAnswer;
import io.pawl.spi.CounterView;
import io.pawl.spi.Operation;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A number that all clients of a store share, with a floor and a ceiling that it never passes: a
 * stock, a quota, a budget. Obtained from {@link Pawl#counter}; cheap, thread-safe, holds nothing.
 * Until its first change it is 0, with a floor of 0 and a ceiling of 2<sup>53</sup> − 1.
 *
 * <p>Every change happens at most once, by its id: <em>applied</em> means exactly once,
 * <em>refused</em> means not at all, and what is not known can be asked for later ({@link
 * #outcome}). Where no id is given the client makes one, so that its own repetitions after a lost
 * answer are safe; give one where <em>you</em> may repeat a change, after a crash say. Ids are this
 * counter's own. An id that was used for one change and then for another is a conflict.
 *
 * <p>Values, amounts and bounds are within ±(2<sup>53</sup> − 1).
 *
 * <p>Each method is one round trip, and may throw
 *
 * <ul>
 *   <li>{@link IllegalArgumentException} for an amount, bound, time or id that cannot be right,
 *       before anything is sent;
 *   <li>{@link NameInUseException} where the name is a lock's;
 *   <li>{@link OperationConflictException}, {@link OperationTooOldException}: nothing was changed;
 *   <li>{@link OutcomeUnknownException} when a change was sent, and the store gave no answer for
 *       the client's {@link PawlOptions#patience}; {@link StoreException} when nothing was changed
 *       for certain, or it was only reading;
 *   <li>{@link IllegalStateException} once the client is closed.
 * </ul>
 *
 * Those ending in {@code Async} do not block, and throw all but the first and last by their future,
 * which is completed on a thread of the client. The others cannot be interrupted, and keep the
 * flag: a change that was sent is better answered than left open.
 */
public final class Counter {

  private final Counters counters;
  private final String name;

  Counter(Counters counters, String name) {
    this.counters = counters;
    this.name = name;
  }

  /** The counter's name. */
  public String name() {
    return name;
  }

  /** The value: what can be taken and what must stay, without open reservations. */
  public long get() {
    return read().value();
  }

  /** As {@link #get}. */
  public CompletableFuture<Long> getAsync() {
    return look().later().thenApply(CounterView::value);
  }

  /** The value with its bounds and reservations. */
  public CounterView read() {
    return look().now();
  }

  private Counters.Asked<Optional<CounterView>, CounterView> look() {
    return counters.look(
        name, store -> store.read(name), view -> view.orElse(CounterView.unknown(name)));
  }

  /**
   * Takes {@code amount} if that leaves the floor.
   *
   * @param amount 1 to 2^53 − 1
   */
  public Take tryTake(long amount) {
    return take(amount, null).now();
  }

  /** As {@link #tryTake(long)}, once however often it is repeated under {@code id}. */
  public Take tryTake(long amount, String id) {
    return tryTake(amount, OperationId.of(id));
  }

  /** As {@link #tryTake(long, String)}. */
  public Take tryTake(long amount, OperationId id) {
    return take(amount, id).now();
  }

  /** As {@link #tryTake(long)}. */
  public CompletableFuture<Take> tryTakeAsync(long amount) {
    return take(amount, null).later();
  }

  /** As {@link #tryTake(long, String)}. */
  public CompletableFuture<Take> tryTakeAsync(long amount, OperationId id) {
    return take(amount, id).later();
  }

  private Counters.Asked<CounterAnswer, Take> take(long amount, @Nullable OperationId id) {
    Operation operation = new Operation.Add(-Amounts.positive("amount", amount));
    return counters.change(
        name,
        operation,
        id,
        (taken, entry) -> taken ? new Take.Taken(entry.value()) : new Take.Refused(entry.value()));
  }

  /**
   * Gives {@code amount} back; refused where that, with what is reserved, passes the ceiling. An
   * amount that was taken under an id is given back under another.
   *
   * @param amount 1 to 2^53 − 1
   */
  public Change giveBack(long amount) {
    return add(Amounts.positive("amount", amount));
  }

  /** As {@link #giveBack(long)}, once however often it is repeated under {@code id}. */
  public Change giveBack(long amount, String id) {
    return giveBack(amount, OperationId.of(id));
  }

  /** As {@link #giveBack(long, String)}. */
  public Change giveBack(long amount, OperationId id) {
    return add(Amounts.positive("amount", amount), id);
  }

  /** As {@link #giveBack(long, String)}. */
  public CompletableFuture<Change> giveBackAsync(long amount, OperationId id) {
    return addAsync(Amounts.positive("amount", amount), id);
  }

  /**
   * Adds, or takes where negative; refused where that passes a bound.
   *
   * @param amount within ±(2^53 − 1), not 0
   */
  public Change add(long amount) {
    return change(new Operation.Add(amount), null).now();
  }

  /** As {@link #add(long)}, once however often it is repeated under {@code id}. */
  public Change add(long amount, OperationId id) {
    return change(new Operation.Add(amount), id).now();
  }

  /** As {@link #add(long)}. */
  public CompletableFuture<Change> addAsync(long amount) {
    return change(new Operation.Add(amount), null).later();
  }

  /** As {@link #add(long, OperationId)}. */
  public CompletableFuture<Change> addAsync(long amount, OperationId id) {
    return change(new Operation.Add(amount), id).later();
  }

  /**
   * Sets the value; refused outside the bounds. Open reservations stay open.
   *
   * @param value within ±(2^53 − 1)
   */
  public Change set(long value) {
    return change(new Operation.SetTo(value), null).now();
  }

  /** As {@link #set(long)}, once however often it is repeated under {@code id}. */
  public Change set(long value, OperationId id) {
    return change(new Operation.SetTo(value), id).now();
  }

  /** As {@link #set(long, OperationId)}. */
  public CompletableFuture<Change> setAsync(long value, OperationId id) {
    return change(new Operation.SetTo(value), id).later();
  }

  /** Sets the value if it is {@code expected}; refused otherwise, and outside the bounds. */
  public Change compareAndSet(long expected, long value) {
    return change(new Operation.CompareAndSet(expected, value), null).now();
  }

  /** As {@link #compareAndSet(long, long)}, once however often it is repeated. */
  public Change compareAndSet(long expected, long value, OperationId id) {
    return change(new Operation.CompareAndSet(expected, value), id).now();
  }

  /** As {@link #compareAndSet(long, long, OperationId)}. */
  public CompletableFuture<Change> compareAndSetAsync(long expected, long value, OperationId id) {
    return change(new Operation.CompareAndSet(expected, value), id).later();
  }

  /**
   * Sets the bounds, which are part of the counter and hold for all clients; refused where the
   * value is below the floor, or with what is reserved above the ceiling.
   *
   * @param floor the least value
   * @param ceiling the largest, at least {@code floor}
   */
  public Change bounds(long floor, long ceiling) {
    return change(new Operation.SetBounds(floor, ceiling), null).now();
  }

  /** As {@link #bounds(long, long)}, once however often it is repeated under {@code id}. */
  public Change bounds(long floor, long ceiling, OperationId id) {
    return change(new Operation.SetBounds(floor, ceiling), id).now();
  }

  /** As {@link #bounds(long, long, OperationId)}. */
  public CompletableFuture<Change> boundsAsync(long floor, long ceiling, OperationId id) {
    return change(new Operation.SetBounds(floor, ceiling), id).later();
  }

  private Counters.Asked<CounterAnswer, Change> change(
      Operation operation, @Nullable OperationId id) {
    return counters.change(
        name,
        operation,
        id,
        (applied, entry) ->
            applied ? new Change.Applied(entry.value()) : new Change.Refused(entry.value()));
  }

  /**
   * Takes {@code amount} for {@code ttl}: unless it is {@linkplain #confirm confirmed} by then, by
   * the store's clock, it returns to stock, whoever crashed.
   *
   * @param amount 1 to 2^53 − 1
   * @param ttl 1 ms to 100 years
   * @param id of the reservation
   */
  public Reservation reserve(long amount, Duration ttl, String id) {
    return reserve(amount, ttl, OperationId.of(id));
  }

  /** As {@link #reserve(long, Duration, String)}. */
  public Reservation reserve(long amount, Duration ttl, OperationId id) {
    return reservation(amount, ttl, id).now();
  }

  /** As {@link #reserve(long, Duration, String)}. */
  public CompletableFuture<Reservation> reserveAsync(long amount, Duration ttl, OperationId id) {
    return reservation(amount, ttl, id).later();
  }

  private Counters.Asked<CounterAnswer, Reservation> reservation(
      long amount, Duration ttl, OperationId id) {
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
   * Makes a reservation final. Answers whether it is, now or since an earlier call; if not, it is
   * back in stock: its deadline has passed, it was cancelled or refused, or it never was.
   */
  public boolean confirm(String id) {
    return confirm(OperationId.of(id));
  }

  /** As {@link #confirm(String)}. */
  public boolean confirm(OperationId id) {
    return resolve(Operation.CONFIRM, id).now();
  }

  /** As {@link #confirm(String)}. */
  public CompletableFuture<Boolean> confirmAsync(OperationId id) {
    return resolve(Operation.CONFIRM, id).later();
  }

  /**
   * Returns a reservation to stock. Answers whether it is there, by whatever way; if not, it was
   * confirmed. An id that the store has never heard of is closed, as by {@link #outcome}.
   */
  public boolean cancel(String id) {
    return cancel(OperationId.of(id));
  }

  /** As {@link #cancel(String)}. */
  public boolean cancel(OperationId id) {
    return resolve(Operation.CANCEL, id).now();
  }

  /** As {@link #cancel(String)}. */
  public CompletableFuture<Boolean> cancelAsync(OperationId id) {
    return resolve(Operation.CANCEL, id).later();
  }

  private Counters.Asked<CounterAnswer, Boolean> resolve(Operation resolving, OperationId id) {
    return counters.resolve(name, resolving, id, (done, entry) -> done);
  }

  /**
   * What became of the operation. The answer stays true: an id that the store has never heard of is
   * closed, and whatever still arrives under it is refused as a conflict. It is remembered as an
   * operation first made now would be, whenever the id is from; once it is forgotten, what arrives
   * under it with a time before the question is refused as too old. To make the change after all,
   * repeat it rather than ask; after asking use another id.
   */
  public Outcome outcome(String id) {
    return outcome(OperationId.of(id));
  }

  /** As {@link #outcome(String)}; takes the id of an {@link OutcomeUnknownException} as it is. */
  public Outcome outcome(OperationId id) {
    return asked(id).now();
  }

  /** As {@link #outcome(String)}. */
  public CompletableFuture<Outcome> outcomeAsync(OperationId id) {
    return asked(id).later();
  }

  private Counters.Asked<CounterAnswer, Outcome> asked(OperationId id) {
    return counters.resolve(name, Operation.CLOSE, id, (known, entry) -> Counters.outcome(entry));
  }

  /**
   * The last operations, newest first. For people and tools.
   *
   * @param limit at most so many, at least 1
   */
  public List<Outcome> history(int limit) {
    if (limit < 1) {
      throw new IllegalArgumentException("limit: " + limit + " is not positive");
    }
    return counters
        .look(
            name,
            store -> store.history(name, limit),
            entries -> entries.stream().map(Counters::outcome).toList())
        .now();
  }

  /**
   * Forgets the operations whose ids were first used before {@code before}, except open
   * reservations. From then on an operation that is that old is refused ({@link
   * OperationTooOldException}). Blocks, for a while where there are many.
   *
   * @param before from 1970 to now, by this client's clock and by the store's
   * @return how many it forgot
   * @throws IllegalArgumentException where {@code before} is earlier or later, before anything is
   *     sent
   * @throws StoreException where it is later than the store's clock; nothing was changed
   */
  public long prune(Instant before) {
    counters.checkPast(name, before);
    return counters.look(name, store -> store.prune(name, before), count -> count).now();
  }

  @Override
  public String toString() {
    return "Counter[" + name + " on " + counters.store() + "]";
  }
}
