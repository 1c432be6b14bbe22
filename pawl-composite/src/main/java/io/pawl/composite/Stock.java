package io.pawl.composite;

import io.pawl.spi.CounterView;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * What this client knows of one counter: which takes the truth, or the gate, would have refused a
 * moment ago. It is a reason to refuse while it is fresh, and never one to grant. Thread-safe.
 */
final class Stock {

  /** What to do with a take. */
  sealed interface Advice {}

  /** It may well be possible: the truth decides. */
  record Sell() implements Advice {}

  /** It was not possible a moment ago, with this value. */
  record Refuse(long value) implements Advice {}

  /** Nothing fresh is known. */
  record Ask() implements Advice {}

  private static final Advice SELL = new Sell();
  private static final Advice ASK = new Ask();

  /**
   * What is known; takes of {@code refusesFrom} and more were not possible.
   *
   * @param undated whether that may have been long ago
   */
  private record Known(long refusesFrom, long value, long heardNanos, boolean undated) {}

  private static final Known OPEN = new Known(Long.MAX_VALUE, 0, 0, false);

  final String counter;
  private final AtomicReference<@Nullable CompletableFuture<Void>> asking = new AtomicReference<>();
  private volatile @Nullable Known known;
  private volatile int raises;
  private volatile boolean used;
  private volatile boolean watched;
  private volatile long usedNanos;
  private long generation;
  private boolean wrote;

  Stock(String counter) {
    this.counter = counter;
  }

  Advice advice(long amount, long nowNanos, long keptNanos) {
    Known latest = known;
    if (latest == null) {
      return ASK;
    }
    if (amount < latest.refusesFrom) {
      return SELL;
    }
    return !latest.undated && nowNanos - latest.heardNanos < keptNanos
        ? new Refuse(latest.value)
        : ASK;
  }

  boolean isUnheard() {
    return known == null;
  }

  /** Whether the truth has refused a take, now or long ago: it alone says how it stands. */
  boolean isUndated() {
    Known latest = known;
    return latest != null && latest.undated;
  }

  /** To be handed back with what was heard: whether the stock was raised in the meantime. */
  int raises() {
    return raises;
  }

  /** {@code amount} was refused. */
  synchronized void refused(long amount, long value, int raisesBefore, long nowNanos) {
    Known latest = known;
    if (raises == raisesBefore && (latest == null || amount <= latest.refusesFrom)) {
      known = new Known(amount, value, nowNanos, false);
    }
  }

  /** {@code amount} was refused, perhaps long ago: a reason to ask, where none was known. */
  synchronized void onceRefused(long amount, int raisesBefore) {
    Known latest = known;
    if (raises == raisesBefore && (latest == null || amount < latest.refusesFrom)) {
      known = new Known(amount, 0, 0, true);
    }
  }

  /** {@code amount} was taken. */
  void taken(long amount) {
    Known latest = known;
    if (latest == null || latest.refusesFrom <= amount) {
      open();
    }
  }

  /** It may have risen: what was refused may be possible now. */
  synchronized void raised() {
    raises++;
    known = OPEN;
  }

  private synchronized void open() {
    known = OPEN;
  }

  /** Nothing could be learned: the truth decides. */
  void unknown() {
    open();
  }

  /** It stands so. */
  synchronized void seen(CounterView view, int raisesBefore, long nowNanos) {
    if (raises == raisesBefore) {
      known = new Known(view.value() - view.floor() + 1, view.value(), nowNanos, false);
    }
  }

  /** One caller at a time asks: answers null to it, and to the others what to wait for. */
  @Nullable CompletableFuture<Void> startAsking() {
    CompletableFuture<Void> mine = new CompletableFuture<>();
    CompletableFuture<Void> other = asking.compareAndExchange(null, mine);
    return other;
  }

  void doneAsking() {
    CompletableFuture<Void> mine = asking.getAndSet(null);
    if (mine != null) {
      mine.complete(null);
    }
  }

  /** It is in use. Answers whether somebody has to start watching it. */
  boolean use(long nowNanos) {
    usedNanos = nowNanos;
    return !(used && watched) && useAnew();
  }

  /** In one step: what it notes is not taken for an older use, nor does a watch end beside it. */
  private synchronized boolean useAnew() {
    used = true;
    boolean start = !watched;
    watched = true;
    return start;
  }

  /** Whether it was used since this was last asked. */
  synchronized boolean takeUsed() {
    boolean was = used;
    used = false;
    return was;
  }

  /** Ends the watch, unless it was used meanwhile. */
  synchronized boolean endWatch() {
    watched = false; // before the question: who uses it from now on starts anew
    watched = used;
    return !watched;
  }

  /** In which the gate's copy is written, see {@link Mirror}; it only grows. */
  synchronized long generation() {
    return generation;
  }

  synchronized void inGeneration(long latest) {
    generation = Math.max(generation, latest);
  }

  /** This client is about to write to the gate's copy. */
  synchronized void wrote() {
    wrote = true;
  }

  /** Whether it wrote since this was last asked. */
  synchronized boolean takeWrote() {
    boolean was = wrote;
    wrote = false;
    return was;
  }

  boolean isIdle(long nowNanos, long idleNanos) {
    return !watched && nowNanos - usedNanos > idleNanos;
  }
}
