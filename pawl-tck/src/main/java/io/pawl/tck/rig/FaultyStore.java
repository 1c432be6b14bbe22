package io.pawl.tck.rig;

import io.pawl.error.StoreDeniedException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.spi.Bell;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.CounterAnswer;
import io.pawl.spi.CounterRequest;
import io.pawl.spi.CounterStore;
import io.pawl.spi.CounterView;
import io.pawl.spi.Inspectable;
import io.pawl.spi.Kind;
import io.pawl.spi.LedgerEntry;
import io.pawl.spi.LockStore;
import io.pawl.spi.Standing;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A store behind a bad network: each verb can be made to fail, lose its answer or take its time, on
 * demand. Without a fault it passes everything through and counts the calls. Give it to a client
 * with {@link io.pawl.Pawl#over}. Thread-safe.
 */
public final class FaultyStore implements LockStore, CounterStore, Inspectable {

  /** A verb that can be disturbed. */
  public enum Verb {
    ATTEMPT,
    RENEW,
    WITHDRAW,
    /** Of a {@link CounterStore}. */
    APPLY,
    /** Of a {@link CounterStore}: read, history and prune. */
    READ
  }

  /** A fault that a call can meet. */
  public enum Fault {
    /** No fault: the call passes. */
    NONE,
    /** The call fails without having reached the store. */
    LOSE_REQUEST,
    /** The call is applied, and fails: the answer is kept in {@link #lostReplies}. */
    LOSE_REPLY,
    /** The call reaches the store at the next {@link #resume}. */
    HOLD_REQUEST,
    /** The call is applied, and answered at the next {@link #resume}. */
    HOLD_REPLY,
    /** The store refuses the account. */
    DENY,
    /** The verb itself throws an exception that no store should throw. */
    THROW,
    /** The verb itself throws an {@link Error}, as when a class of the driver is missing. */
    THROW_ERROR
  }

  private final LockStore behind;
  private static final Duration PATIENT = Duration.ofSeconds(10);

  private final Map<Verb, Queue<Fault>> next = new EnumMap<>(Verb.class);
  private final Map<Verb, Fault> always = new EnumMap<>(Verb.class);
  private final Map<Verb, Integer> calls = new EnumMap<>(Verb.class);
  private final Map<Verb, Integer> answers = new EnumMap<>(Verb.class);
  private final Queue<Runnable> held = new ArrayDeque<>();
  private final Queue<Object> lostReplies = new ConcurrentLinkedQueue<>();
  private final AtomicInteger grantsRung = new AtomicInteger();
  private boolean losesBells;
  private volatile long lastSignOfLifeNanos;
  private volatile Duration answerTime;

  /**
   * Makes a faulty store over {@code behind}, which stays the caller's: closing this does not close
   * it.
   */
  public FaultyStore(LockStore behind) {
    this.behind = behind;
    this.answerTime = behind.answerTime();
  }

  /**
   * Lets the store be silent for 10 s at the end of a wait: for cases about something else, which a
   * starved machine must not end.
   */
  public FaultyStore patient() {
    answerTime = PATIENT;
    return this;
  }

  /**
   * Makes the next calls of {@code verb} meet these faults, one each, before those of {@link #on}.
   */
  public synchronized FaultyStore next(Verb verb, Fault... faults) {
    next.computeIfAbsent(verb, v -> new ArrayDeque<>()).addAll(List.of(faults));
    return this;
  }

  /** Makes every call of {@code verb} meet this fault, until {@link #heal}. */
  public synchronized FaultyStore on(Verb verb, Fault fault) {
    always.put(verb, fault);
    return this;
  }

  /** Makes every call fail without having reached the store, until {@link #heal}. */
  public synchronized FaultyStore cut() {
    for (Verb verb : Verb.values()) {
      on(verb, Fault.LOSE_REQUEST);
    }
    return this;
  }

  /** Drops every bell until {@link #heal}. */
  public synchronized FaultyStore loseBells() {
    losesBells = true;
    return this;
  }

  /** Ends all faults; calls and replies that were held back stay so until {@link #resume}. */
  public synchronized void heal() {
    next.clear();
    always.clear();
    losesBells = false;
  }

  /** Releases requests and replies that were held back, on the calling thread. */
  public void resume() {
    for (Runnable first = nextHeld(); first != null; first = nextHeld()) {
      first.run();
    }
  }

  private synchronized @Nullable Runnable nextHeld() {
    return held.poll();
  }

  /** Returns how often the engine called {@code verb}, whatever became of the call. */
  public synchronized int calls(Verb verb) {
    return calls.getOrDefault(verb, 0);
  }

  /** Returns how often the engine got an answer to {@code verb}. */
  public synchronized int answers(Verb verb) {
    return answers.getOrDefault(verb, 0);
  }

  /** Returns how often a bell told the engine of a grant. */
  public int grantsRung() {
    return grantsRung.get();
  }

  /** Returns what {@link Fault#LOSE_REPLY} lost, oldest first. */
  public List<Object> lostReplies() {
    return List.copyOf(lostReplies);
  }

  /** Returns when the last attempt or renewal arrived here, by {@link System#nanoTime}. */
  public long lastSignOfLifeNanos() {
    return lastSignOfLifeNanos;
  }

  @Override
  public CompletionStage<Standing> attempt(Claim claim, Bell bell) {
    lastSignOfLifeNanos = System.nanoTime();
    return disturbed(Verb.ATTEMPT, () -> behind.attempt(claim, standing -> ring(bell, standing)));
  }

  @Override
  public CompletionStage<Map<ClaimId, Standing>> renew(Collection<Claim> claims) {
    lastSignOfLifeNanos = System.nanoTime();
    return disturbed(Verb.RENEW, () -> behind.renew(claims));
  }

  @Override
  public CompletionStage<Void> withdraw(Claim claim) {
    return disturbed(Verb.WITHDRAW, () -> behind.withdraw(claim));
  }

  @Override
  public CompletionStage<CounterAnswer> apply(CounterRequest request) {
    return disturbed(Verb.APPLY, () -> counters().apply(request));
  }

  @Override
  public CompletionStage<Optional<CounterView>> read(String counter) {
    return disturbed(Verb.READ, () -> counters().read(counter));
  }

  @Override
  public CompletionStage<List<LedgerEntry>> history(String counter, int limit) {
    return disturbed(Verb.READ, () -> counters().history(counter, limit));
  }

  @Override
  public CompletionStage<List<CounterView>> list(String after, int limit) {
    return disturbed(Verb.READ, () -> counters().list(after, limit));
  }

  @Override
  public CompletionStage<Long> prune(String counter, Instant before) {
    return disturbed(Verb.READ, () -> counters().prune(counter, before));
  }

  private CounterStore counters() {
    if (behind instanceof CounterStore counters) {
      return counters;
    }
    throw new UnsupportedOperationException(behind.describe() + " has no counters");
  }

  /** No fault meets what is asked for people. */
  private Inspectable shown() {
    if (behind instanceof Inspectable inspectable) {
      return inspectable;
    }
    throw new UnsupportedOperationException(behind.describe() + " cannot be looked at");
  }

  @Override
  public CompletionStage<List<LockView>> list(int limit) {
    return shown().list(limit);
  }

  @Override
  public CompletionStage<Optional<LockView>> show(String lock) {
    return shown().show(lock);
  }

  @Override
  public CompletionStage<Boolean> evict(String lock, long token) {
    return shown().evict(lock, token);
  }

  @Override
  public CompletionStage<Boolean> setKind(String lock, Kind kind) {
    return shown().setKind(lock, kind);
  }

  private void ring(Bell bell, Standing standing) {
    boolean lost;
    synchronized (this) {
      lost = losesBells;
    }
    if (!lost) {
      bell.ring(standing);
      if (standing instanceof Standing.Held) {
        grantsRung.incrementAndGet();
      }
    }
  }

  /** Counts a call; {@code later} is there for {@link #resume} as soon as a held one counts. */
  private synchronized Fault arrive(Verb verb, Runnable later) {
    calls.merge(verb, 1, Integer::sum);
    Queue<Fault> planned = next.get(verb);
    Fault first = planned == null ? null : planned.poll();
    Fault fault = first == null ? always.getOrDefault(verb, Fault.NONE) : first;
    if (fault == Fault.HOLD_REQUEST || fault == Fault.HOLD_REPLY) {
      held.add(later);
    }
    return fault;
  }

  private synchronized void answered(Verb verb) {
    answers.merge(verb, 1, Integer::sum);
  }

  private <T> CompletionStage<T> disturbed(Verb verb, Supplier<CompletionStage<T>> call) {
    CompletableFuture<T> answer = new CompletableFuture<>();
    CompletableFuture<Void> resumed = new CompletableFuture<>();
    Fault fault = arrive(verb, () -> resumed.complete(null));
    switch (fault) {
      case NONE -> forward(call, answer);
      case LOSE_REQUEST -> answer.completeExceptionally(lost(verb, "request"));
      case LOSE_REPLY ->
          call.get()
              .whenComplete(
                  (reply, error) -> {
                    if (reply != null) {
                      lostReplies.add(reply);
                    }
                    answer.completeExceptionally(lost(verb, "reply"));
                  });
      case HOLD_REQUEST ->
          resumed
              .thenRun(() -> forward(call, answer))
              .whenComplete(
                  (done, thrown) -> {
                    if (thrown != null) {
                      answer.completeExceptionally(thrown.getCause());
                    }
                  });
      case HOLD_REPLY -> {
        CompletionStage<T> applied = call.get();
        resumed.thenRun(() -> forward(() -> applied, answer));
      }
      case DENY -> answer.completeExceptionally(new StoreDeniedException(verb + " was denied"));
      case THROW -> throw new IllegalStateException(verb + " broke the store's client");
      case THROW_ERROR -> throw new NoClassDefFoundError(verb + " needs a class that is not there");
    }
    return answer.whenComplete((reply, error) -> answered(verb));
  }

  private static <T> void forward(Supplier<CompletionStage<T>> call, CompletableFuture<T> answer) {
    call.get()
        .whenComplete(
            (reply, error) -> {
              if (error == null) {
                answer.complete(reply);
              } else {
                answer.completeExceptionally(error);
              }
            });
  }

  private static StoreUnavailableException lost(Verb verb, String what) {
    return new StoreUnavailableException("the " + what + " of " + verb + " was lost");
  }

  @Override
  public int renewBatch() {
    return behind.renewBatch();
  }

  @Override
  public void together(Runnable calls) {
    behind.together(calls);
  }

  @Override
  public void awaited(Runnable call) {
    behind.awaited(call);
  }

  @Override
  public int renewGroup(Claim claim) {
    return behind.renewGroup(claim);
  }

  /** A request that is held back arrives behind those that came after it. */
  @Override
  public boolean attemptsArriveOnce() {
    return false;
  }

  @Override
  public boolean hasCounters() {
    return behind instanceof CounterStore counters && counters.hasCounters();
  }

  @Override
  public Duration answerTime() {
    return answerTime;
  }

  @Override
  public boolean servesOthers() {
    return behind.servesOthers();
  }

  @Override
  public boolean blocks() {
    return behind.blocks();
  }

  @Override
  public String describe() {
    return "faulty " + behind.describe();
  }

  /** Lets go of what was held back. */
  @Override
  public void close() {
    heal();
    resume();
  }
}
