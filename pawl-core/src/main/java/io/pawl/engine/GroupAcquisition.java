package io.pawl.engine;

import io.pawl.concurrent.Durations;
import io.pawl.concurrent.Futures;
import io.pawl.concurrent.Time;
import io.pawl.concurrent.Uninterruptibly;
import io.pawl.concurrent.Unnested;
import io.pawl.engine.Requests.Made;
import io.pawl.error.StoreUnavailableException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * One request for several locks, in the order of their names:
 *
 * <ol>
 *   <li>ask for all that are missing, at once, without standing in the queue;
 *   <li>keep what was granted before the first busy one, give back what was granted after it;
 *   <li>wait in the queue for that one, then begin again with what is missing after it.
 * </ol>
 *
 * Whoever waits holds only smaller names, so no circle of waiters can close. Each round leaves at
 * least one more lock held. Nothing here blocks; the rounds run on whatever thread brings the last
 * answer, one after another and not one inside the other.
 *
 * <p><b>Without a wait</b> the first name is asked for alone, and the others at once only by
 * whoever has it. All at once, two that try the same free group could each get what the other
 * lacks, and both would be told that it is busy. So, however, whoever is granted the first name
 * meets nobody who has the others: of those that try the same names when all are free, the one that
 * the store serves first gets them. It costs a trip more where all is free, and one less to others
 * where the first is busy. Groups that merely overlap may still turn each other away.
 *
 * <p>A group that is refused, given up or has failed says so when the store knows what it gives
 * back: whoever asks next finds free what was free before. It waits for that until its own time is
 * over by as much as a store may be silent.
 */
public final class GroupAcquisition {

  private final Engine engine;
  private final List<Requests> locks;
  private final Asker asker;
  private final boolean waits;
  private final long deadline;
  private final CompletableFuture<Optional<GroupLoan>> outcome = new CompletableFuture<>();
  private final ReentrantLock mutex = new ReentrantLock();

  /** Of the first locks, grows from round to round; written by the round under way alone. */
  private final List<Loan> held = new ArrayList<>();

  private List<Made<Optional<Loan>>> underWay = List.of();

  /** When the round under way began; used by the rounds alone. */
  private long askedAt;

  /** Completes when what these are granted is held by this, or has been given back. */
  private CompletableFuture<Void> round = CompletableFuture.completedFuture(null);

  /** What was given back on the way, as far as the store has yet to confirm it. */
  private CompletableFuture<Void> givenBack = CompletableFuture.completedFuture(null);

  /** What is to be done next, and how much of it is not done: one thread at a time does all. */
  private final ConcurrentLinkedQueue<Runnable> steps = new ConcurrentLinkedQueue<>();

  private final AtomicInteger undone = new AtomicInteger();
  private boolean over;
  private Time.Pending timeout = () -> {};

  /**
   * @param locks in the order of their names
   */
  public GroupAcquisition(Engine engine, List<Requests> locks, Asker asker, long waitNanos) {
    this.engine = engine;
    this.locks = locks;
    this.asker = asker;
    this.waits = waitNanos > 0;
    this.deadline = engine.time().nanos() + waitNanos;
  }

  /** Completed on the thread that brings the last answer, with a lease of all, or empty. */
  public CompletableFuture<Optional<GroupLoan>> outcome() {
    return outcome;
  }

  /**
   * @param mayBlock whether the calling thread would wait for the store anyway, without a bound
   */
  public void start(boolean mayBlock) {
    long left = deadline - engine.time().nanos();
    if (left < Durations.LONGEST.toNanos() / 2) {
      long silence = Math.max(0, left) + engine.graceNanos();
      timeout = engine.time().after(silence, this::giveUpOnASilentStore);
    }
    int first = waits ? locks.size() : 1;
    steps.add(() -> ask(locks.subList(0, first), Duration.ZERO, mayBlock, this::answered));
    undone.incrementAndGet();
    doAll(); // it may block, and others' answers may come on this thread meanwhile
  }

  /**
   * The caller no longer wants it: nothing stays held, nothing in the queue. The stage completes
   * when the store knows, as far as it has to.
   */
  public CompletableFuture<Void> abandon() {
    finish(() -> outcome.complete(Optional.empty()));
    return outcome
        .exceptionally(failure -> Optional.empty())
        .thenCompose(
            raced ->
                raced
                    .map(GroupLoan::drop)
                    .orElseGet(() -> CompletableFuture.completedFuture(null)));
  }

  /**
   * As {@link #abandon}; returns when the store knows, or has been silent for as long as it may be,
   * from now on or from the end of the wait if that is over.
   */
  public void abandonAndWait() {
    long over = Math.max(0, engine.time().nanos() - deadline);
    Uninterruptibly.await(abandon(), engine.graceNanos() - over);
  }

  private void giveUpOnASilentStore() {
    long more = engine.queueingNanos(engine.time().nanos() - deadline);
    if (more > 0) {
      mutex.lock();
      try {
        if (!over) {
          timeout = engine.time().after(more, this::giveUpOnASilentStore);
        }
      } finally {
        mutex.unlock();
      }
      return;
    }
    finish(() -> outcome.completeExceptionally(Waiter.stillFailing(engine.silentStore())));
  }

  /**
   * A store that answers at once would otherwise nest a round in the one before, or in that of
   * another group, which gives back what this one waits for.
   */
  private void proceed(Runnable step) {
    steps.add(step);
    if (undone.getAndIncrement() == 0) { // else whoever is at it does it
      Unnested.run(engine.workers().stores(), this::doAll);
    }
  }

  private void doAll() {
    do {
      Runnable next = Objects.requireNonNull(steps.poll());
      try {
        next.run();
      } catch (RuntimeException | Error e) {
        fail(e);
      }
    } while (undone.decrementAndGet() > 0);
  }

  private void askForTheRest() {
    List<Requests> missing = locks.subList(held.size(), locks.size());
    ask(missing, Duration.ZERO, false, this::answered);
  }

  private void waitForTheNext() {
    Duration left = Duration.ofNanos(Math.max(1, deadline - engine.time().nanos()));
    ask(List.of(locks.get(held.size())), left, false, this::served);
  }

  private void ask(
      List<Requests> wanted,
      Duration wait,
      boolean mayBlock,
      Consumer<List<Made<Optional<Loan>>>> next) {
    CompletableFuture<Void> ended = new CompletableFuture<>();
    if (!begin(ended)) {
      return;
    }
    askedAt = engine.time().nanos();
    List<Made<Optional<Loan>>> requests = new ArrayList<>();
    List<Runnable> asks = new ArrayList<>();
    Throwable refusal = null;
    try {
      for (Requests lock : wanted) {
        Made<Optional<Loan>> request = lock.make(wait, asker, Function.identity(), Runnable::run);
        requests.add(request);
        asks.addAll(request.calls());
        if (request.future().isDone()) {
          break; // busy in this client already: what comes after it would only be in others' way
        }
      }
    } catch (RuntimeException | Error e) {
      refusal = e;
    }
    boolean wantedStill = publish(requests);
    if (refusal != null) {
      fail(refusal);
    }
    if (!wantedStill) {
      requests.forEach(request -> alsoGivenBack(request.undo()));
    }
    engine.callTogether(asks, mayBlock); // in any case: other waiters may have joined these claims
    CompletableFuture.allOf(requests.stream().map(Made::future).toArray(CompletableFuture[]::new))
        .whenComplete((nothing, error) -> proceed(() -> endRound(requests, next, ended)));
  }

  /** Whoever gives this up meanwhile also waits for what the round is about to give back. */
  private void endRound(
      List<Made<Optional<Loan>>> requests,
      Consumer<List<Made<Optional<Loan>>>> next,
      CompletableFuture<Void> ended) {
    try {
      next.accept(requests);
    } finally {
      Futures.follow(ended, givenBack());
    }
  }

  private CompletableFuture<Void> givenBack() {
    mutex.lock();
    try {
      return givenBack;
    } finally {
      mutex.unlock();
    }
  }

  /** A round begins, unless this is over: whoever gives this up from now on waits for its end. */
  private boolean begin(CompletableFuture<Void> ended) {
    mutex.lock();
    try {
      if (!over) {
        underWay = List.of();
        round = ended;
      }
      return !over;
    } finally {
      mutex.unlock();
    }
  }

  private boolean publish(List<Made<Optional<Loan>>> requests) {
    mutex.lock();
    try {
      underWay = requests;
      return !over;
    } finally {
      mutex.unlock();
    }
  }

  private void answered(List<Made<Optional<Loan>>> requests) {
    List<Loan> granted = new ArrayList<>();
    List<Loan> tooFar = new ArrayList<>();
    Throwable error = null;
    boolean busy = false;
    for (Made<Optional<Loan>> request : requests) {
      Optional<Loan> lease = Optional.empty();
      try {
        lease = request.future().join();
      } catch (CompletionException | CancellationException e) {
        error = error == null ? e : error;
      }
      busy |= lease.isEmpty();
      lease.ifPresent(busy ? tooFar::add : granted::add);
    }
    if (!take(granted)) {
      tooFar.addAll(granted);
    }
    giveBack(tooFar);
    if (error != null && !mayYetBeAnswered(error)) {
      fail(error);
    } else if (busy) {
      waitOrGiveUp(this::waitForTheNext);
    } else {
      goOn();
    }
  }

  /**
   * Then it waits in the queue, where it is as patient with the store as others that wait; not if
   * it was so patient already.
   */
  private boolean mayYetBeAnswered(Throwable failure) {
    long now = engine.time().nanos();
    return waits
        && failure.getCause() instanceof StoreUnavailableException
        && now - askedAt < engine.patienceNanos()
        && now - deadline < 0;
  }

  private void served(List<Made<Optional<Loan>>> requests) {
    Optional<Loan> lease;
    try {
      lease = requests.get(0).future().join();
    } catch (CompletionException | CancellationException e) {
      fail(e);
      return;
    }
    if (lease.isEmpty()) {
      finish(() -> outcome.complete(Optional.empty()));
    } else if (take(List.of(lease.get()))) {
      goOn();
    } else {
      giveBack(List.of(lease.get()));
    }
  }

  private void goOn() {
    if (held.size() == locks.size()) {
      complete();
    } else {
      askForTheRest();
    }
  }

  private void waitOrGiveUp(Runnable next) {
    if (waits && engine.time().nanos() - deadline < 0) {
      next.run();
    } else {
      finish(() -> outcome.complete(Optional.empty()));
    }
  }

  private void giveBack(List<Loan> leases) {
    if (leases.isEmpty()) {
      return;
    }
    alsoGivenBack(GroupLoan.dropAll(engine, leases));
  }

  private void alsoGivenBack(CompletableFuture<Void> confirmed) {
    mutex.lock();
    try {
      givenBack = CompletableFuture.allOf(givenBack, confirmed);
    } finally {
      mutex.unlock();
    }
  }

  /** Adds to what is held, unless this is over. Nobody works under it before all are held. */
  private boolean take(List<Loan> granted) {
    granted.forEach(loan -> loan.use(false));
    mutex.lock();
    try {
      if (!over) {
        held.addAll(granted);
      }
      return !over;
    } finally {
      mutex.unlock();
    }
  }

  /** All are held. One that was lost while this waited for another has to be waited for again. */
  private void complete() {
    boolean valid = held.stream().allMatch(Loan::isTrusted);
    List<Loan> all;
    mutex.lock();
    try {
      if (over) {
        return;
      }
      all = List.copyOf(held);
      if (valid) {
        over = true;
        timeout.cancel();
      } else {
        held.clear();
      }
    } finally {
      mutex.unlock();
    }
    if (valid) {
      all.forEach(loan -> loan.use(true));
      outcome.complete(Optional.of(new GroupLoan(engine, all)));
      return;
    }
    giveBack(all);
    waitOrGiveUp(this::askForTheRest);
  }

  private void fail(Throwable error) {
    Throwable cause = error instanceof CompletionException ? error.getCause() : error;
    finish(() -> outcome.completeExceptionally(cause == null ? error : cause));
  }

  /**
   * @param tell completes the outcome; harmless when repeated
   */
  private void finish(Runnable tell) {
    List<Loan> back;
    List<Made<Optional<Loan>>> requests;
    List<CompletableFuture<Void>> ends = new ArrayList<>();
    mutex.lock();
    try {
      if (over) {
        return;
      }
      over = true;
      timeout.cancel();
      back = List.copyOf(held);
      requests = underWay;
      ends.add(givenBack);
      ends.add(round);
    } finally {
      mutex.unlock();
    }
    requests.forEach(request -> ends.add(request.undo()));
    ends.add(GroupLoan.dropAll(engine, back));
    CompletableFuture<Void> gone = CompletableFuture.allOf(ends.toArray(CompletableFuture[]::new));
    long late = Math.max(0, engine.time().nanos() - deadline);
    if (gone.isDone() || late >= engine.graceNanos()) {
      tell.run();
      return;
    }
    Time.Pending bound = engine.time().after(engine.graceNanos() - late, tell);
    gone.whenComplete(
        (nothing, error) -> {
          bound.cancel();
          tell.run();
        });
  }
}
