package io.pawl.composite;

import io.pawl.concurrent.Uninterruptibly;
import io.pawl.spi.CounterAnswer;
import io.pawl.spi.CounterRequest;
import io.pawl.spi.CounterStore;
import io.pawl.spi.CounterView;
import io.pawl.spi.LedgerEntry;
import io.pawl.spi.Operation;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Counters through a gate. The truth's ledger alone sells: every change is the truth's, under its
 * id, and the gate is told afterwards. The gate has a copy of the value, and is asked when a take
 * has reason to fail:
 *
 * <ol>
 *   <li>A take that this client would have seen refused a moment ago ({@link
 *       GateOptions#soldOutKept}) is refused here, without a trip.
 *   <li>Where that was longer ago, or nothing is known yet, one thread asks the gate for all; it
 *       asks the truth where a refusal that the ledger keeps may be longer ago.
 *   <li>Anything else goes to the truth. Hence selling costs what it costs without a gate.
 * </ol>
 *
 * <p>Only a take whose id nobody else knows, sent for the first time, is refused so. Under a
 * caller's id a refusal is a promise for all time, and what looks like a new take may be the
 * repetition of one that was sold; that is the truth's to say, unless the user waives it ({@link
 * GateOptions#refusesCallersIds}).
 */
final class GateCounters {

  /** Counters of which a client knows something at a time; takes of others go to the truth. */
  private static final int MAX_STOCKS = 100_000;

  private static final long IDLE_NANOS = 60_000_000_000L;

  private final Gate gate;
  private final CounterStore truth;
  private final GateOptions options;
  private final Threads threads;
  private final LongSupplier nanos;
  private final Mirror mirror;
  private final ConcurrentHashMap<String, Stock> stocks = new ConcurrentHashMap<>();
  private final SentIds sent = new SentIds();

  GateCounters(
      Gate gate,
      CounterStore truth,
      GateOptions options,
      Threads threads,
      LongSupplier nanos,
      Mirror mirror) {
    this.gate = gate;
    this.truth = truth;
    this.options = options;
    this.threads = threads;
    this.nanos = nanos;
    this.mirror = mirror;
  }

  CompletionStage<CounterAnswer> apply(CounterRequest request) {
    String counter = request.operations().firstKey();
    long taken = taken(counter, request);
    Stock stock = taken > 0 && mayBeRefused(counter, request) ? stock(counter) : null;
    if (stock == null) {
      return threads.then(send(counter, taken, request), answer -> changed(request, answer));
    }
    Long refusedAt = refuses(stock, taken);
    mirror.watch(stock);
    if (refusedAt != null && mayBeRefused(counter, request)) { // it may have been sent meanwhile
      return CompletableFuture.completedFuture(refusal(counter, request, refusedAt));
    }
    int raises = stock.raises();
    return send(counter, taken, request)
        .thenApply(
            answer -> {
              learn(stock, request, answer, raises);
              return answer;
            });
  }

  /** From now on the truth alone knows what becomes of the id of a take. */
  private CompletionStage<CounterAnswer> send(String counter, long taken, CounterRequest request) {
    if (taken == 0 || !options.refusesCallersIds()) {
      return truth.apply(request);
    }
    String id = request.id();
    sent.send(counter, id);
    return truth
        .apply(request)
        .thenApply(
            answer -> {
              sent.answered(counter, id, request.recordsRefusal());
              return answer;
            });
  }

  /** The amount of a lone take, else 0. */
  private static long taken(String counter, CounterRequest request) {
    return request.operations().size() == 1
            && request.operations().get(counter) instanceof Operation.Add add
        ? Math.max(0, -add.amount())
        : 0;
  }

  /** Whether the take was never sent to the truth. */
  private boolean mayBeRefused(String counter, CounterRequest request) {
    return !request.recordsRefusal()
        || (options.refusesCallersIds() && !sent.has(counter, request.id()));
  }

  private @Nullable Stock stock(String counter) {
    Stock known = stocks.get(counter);
    if (known != null || stocks.size() >= MAX_STOCKS) {
      return known;
    }
    return stocks.computeIfAbsent(counter, Stock::new);
  }

  /** The counter's value where {@code amount} is to be refused, else null. */
  private @Nullable Long refuses(Stock stock, long amount) {
    long kept = options.soldOutKept().toNanos();
    Stock.Advice advice = stock.advice(amount, nanos.getAsLong(), kept);
    if (advice instanceof Stock.Ask) {
      refresh(stock);
      advice = stock.advice(amount, nanos.getAsLong(), kept);
    }
    return advice instanceof Stock.Refuse refuse ? (Long) refuse.value() : null;
  }

  private void refresh(Stock stock) {
    CompletableFuture<Void> asked = stock.startAsking();
    if (asked != null) {
      awaitAtMost(asked, 2 * options.gatePatience().toNanos());
      return;
    }
    try {
      int raises = stock.raises();
      Optional<CounterView> mirrored =
          stock.isUndated()
              ? null
              : gate.ask(CounterStore.class, counters -> counters.read(stock.counter));
      if (mirrored != null && mirrored.isPresent()) {
        stock.seen(mirrored.get(), raises, nanos.getAsLong());
      } else if (stock.isUnheard()) {
        stock.unknown();
      } else {
        askTruth(stock, raises);
      }
    } finally {
      stock.doneAsking();
    }
  }

  private void askTruth(Stock stock, int raises) {
    try {
      CounterView view =
          Mirror.join(truth.read(stock.counter)).orElse(CounterView.unknown(stock.counter));
      stock.seen(view, raises, nanos.getAsLong());
    } catch (RuntimeException e) {
      stock.unknown(); // it will fail in the same way, and be told
    }
  }

  private static void awaitAtMost(CompletableFuture<Void> asked, long nanos) {
    try {
      Uninterruptibly.end(asked).await(nanos, TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // what is known must do
    }
  }

  private static CounterAnswer refusal(String counter, CounterRequest request, long value) {
    long now = System.currentTimeMillis();
    Operation operation = Objects.requireNonNull(request.operations().get(counter));
    LedgerEntry entry =
        new LedgerEntry(request.id(), operation, LedgerEntry.Status.REFUSED, 0, value, now, now, 0);
    return new CounterAnswer.Refused(new TreeMap<>(Map.of(counter, entry)));
  }

  /** A refusal that the ledger keeps may be the repetition of one from before a restock. */
  private void learn(Stock stock, CounterRequest request, CounterAnswer answer, int raises) {
    long taken = taken(stock.counter, request);
    if (answer instanceof CounterAnswer.Applied) {
      stock.taken(taken);
    } else if (answer instanceof CounterAnswer.Refused && request.recordsRefusal()) {
      stock.onceRefused(taken, raises);
    } else if (answer instanceof CounterAnswer.Refused refused) {
      LedgerEntry entry = Objects.requireNonNull(refused.entries().get(stock.counter));
      stock.refused(taken, entry.value(), raises, nanos.getAsLong());
    }
  }

  /** What the truth has done is passed on to the gate, before it is answered. */
  private CounterAnswer changed(CounterRequest request, CounterAnswer answer) {
    if (answer instanceof CounterAnswer.Applied applied) {
      request
          .operations()
          .forEach(
              (counter, operation) -> {
                Stock stock = stock(counter);
                LedgerEntry entry = applied.entries().get(counter);
                if (stock != null && entry != null) {
                  changed(stock, operation, entry, request.recordsRefusal());
                }
              });
    }
    return answer;
  }

  /**
   * What others have read at the gate before it was told says nothing of now.
   *
   * @param isOld whether the entry may be one from long ago, and its value with it
   */
  private void changed(Stock stock, Operation operation, LedgerEntry entry, boolean isOld) {
    mirror.watch(stock);
    if (operation instanceof Operation.Cancel || operation instanceof Operation.SetBounds) {
      stock.raised();
      mirror.settleQuietly(stock);
      stock.raised();
    } else if (operation instanceof Operation.Entering && entry.change() > 0) {
      stock.raised();
      if (isOld) {
        mirror.publishLatest(stock);
      } else {
        mirror.publish(stock, entry.value());
      }
      stock.raised();
    }
  }

  CounterStore truth() {
    return truth;
  }

  /** The gate answers again: what it has missed is made good. */
  void gateIsBack() {
    stocks.values().forEach(mirror::watch);
  }

  /** Forgets counters that were not used for a minute. */
  void sweep() {
    long now = nanos.getAsLong();
    stocks.values().removeIf(stock -> stock.isIdle(now, IDLE_NANOS));
  }
}
