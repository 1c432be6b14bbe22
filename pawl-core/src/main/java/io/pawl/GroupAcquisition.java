package io.pawl;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

/**
 * One request for several locks, in the order of their names:
 *
 * <ol>
 *   <li>ask for all that are missing, at once, without standing in line;
 *   <li>keep what was granted before the first busy one, give back what was granted after it;
 *   <li>wait in line for that one, then begin again with what is missing after it.
 * </ol>
 *
 * Whoever waits holds only smaller names, so no circle of waiters can close. Each round leaves at
 * least one more lock held. Nothing here blocks; the rounds run on whatever thread brings the last
 * answer.
 */
final class GroupAcquisition {

  private final Engine engine;
  private final List<DistributedLock> locks;
  private final String thread;
  private final boolean waits;
  private final long deadline;
  private final CompletableFuture<Optional<GroupLease>> outcome = new CompletableFuture<>();
  private final ReentrantLock mutex = new ReentrantLock();

  /** Of the first locks, grows from round to round; written by the round under way alone. */
  private final List<Lease> held = new ArrayList<>();

  private List<CompletableFuture<Optional<Lease>>> underWay = List.of();
  private boolean over;
  private Time.Pending timeout = () -> {};

  /**
   * @param locks in the order of their names
   */
  GroupAcquisition(Engine engine, List<DistributedLock> locks, String thread, long waitNanos) {
    this.engine = engine;
    this.locks = locks;
    this.thread = thread;
    this.waits = waitNanos > 0;
    this.deadline = engine.time().nanos() + waitNanos;
  }

  /** Completed on the thread that brings the last answer, with a lease of all, or empty. */
  CompletableFuture<Optional<GroupLease>> outcome() {
    return outcome;
  }

  /**
   * @param mayBlock whether the calling thread would wait for the store anyway
   */
  void start(boolean mayBlock) {
    long left = deadline - engine.time().nanos();
    if (waits && left < Durations.LONGEST.toNanos() / 2) {
      timeout = engine.time().after(left + Waiter.GRACE_NANOS, this::giveUpOnASilentStore);
    }
    askForTheRest(mayBlock);
  }

  /** The caller no longer wants it: nothing stays held, nothing in line. */
  void abandon() {
    finish(() -> outcome.complete(Optional.empty()));
    outcome.thenAccept(raced -> raced.ifPresent(GroupLease::drop));
  }

  private void giveUpOnASilentStore() {
    StoreException silent =
        new StoreUnavailableException(engine.store().describe() + " has not answered");
    finish(() -> outcome.completeExceptionally(Waiter.stillFailing(silent)));
  }

  private void askForTheRest(boolean mayBlock) {
    List<DistributedLock> missing = locks.subList(held.size(), locks.size());
    ask(missing, Duration.ZERO, mayBlock, this::answered);
  }

  private void waitForTheNext() {
    Duration left = Duration.ofNanos(Math.max(1, deadline - engine.time().nanos()));
    ask(List.of(locks.get(held.size())), left, false, this::served);
  }

  private void ask(
      List<DistributedLock> wanted,
      Duration wait,
      boolean mayBlock,
      Consumer<List<CompletableFuture<Optional<Lease>>>> next) {
    List<CompletableFuture<Optional<Lease>>> requests = new ArrayList<>();
    List<Runnable> asks = new ArrayList<>();
    RuntimeException refusal = null;
    try {
      for (DistributedLock lock : wanted) {
        CompletableFuture<Optional<Lease>> request =
            lock.request(wait, thread, asks::add, Runnable::run);
        requests.add(request);
        if (request.isDone()) {
          break; // busy in this client already: what comes after it would only be in others' way
        }
      }
    } catch (RuntimeException e) {
      refusal = e;
    }
    boolean wantedStill = publish(requests);
    if (refusal != null) {
      fail(refusal);
    } else if (!wantedStill) {
      requests.forEach(request -> request.cancel(false));
    }
    engine.runTogether(asks, mayBlock); // in any case: other waiters may have joined these claims
    CompletableFuture.allOf(requests.toArray(CompletableFuture[]::new))
        .whenComplete((nothing, error) -> next.accept(requests));
  }

  private boolean publish(List<CompletableFuture<Optional<Lease>>> requests) {
    mutex.lock();
    try {
      underWay = requests;
      return !over;
    } finally {
      mutex.unlock();
    }
  }

  private void answered(List<CompletableFuture<Optional<Lease>>> requests) {
    List<Lease> granted = new ArrayList<>();
    List<Lease> tooFar = new ArrayList<>();
    Throwable error = null;
    boolean busy = false;
    boolean all = requests.size() == locks.size() - held.size();
    for (CompletableFuture<Optional<Lease>> request : requests) {
      Optional<Lease> lease = Optional.empty();
      try {
        lease = request.join();
      } catch (CompletionException | CancellationException e) {
        error = error == null ? e : error;
      }
      busy |= lease.isEmpty();
      lease.ifPresent(busy ? tooFar::add : granted::add);
    }
    if (!take(granted)) {
      tooFar.addAll(granted);
    }
    GroupLease.dropAll(engine, tooFar);
    if (error != null) {
      fail(error);
    } else if (!busy && all) {
      complete();
    } else if (!busy) {
      askForTheRest(false);
    } else if (waits && engine.time().nanos() - deadline < 0) {
      waitForTheNext();
    } else {
      finish(() -> outcome.complete(Optional.empty()));
    }
  }

  private void served(List<CompletableFuture<Optional<Lease>>> requests) {
    Optional<Lease> lease;
    try {
      lease = requests.get(0).join();
    } catch (CompletionException | CancellationException e) {
      fail(e);
      return;
    }
    if (lease.isEmpty()) {
      finish(() -> outcome.complete(Optional.empty()));
    } else if (!take(List.of(lease.get()))) {
      GroupLease.dropAll(engine, List.of(lease.get()));
    } else if (held.size() == locks.size()) {
      complete();
    } else {
      askForTheRest(false);
    }
  }

  /** Adds to what is held, unless this is over. */
  private boolean take(List<Lease> granted) {
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
    boolean valid = held.stream().allMatch(lease -> lease.loan().isTrusted());
    List<Lease> all;
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
      outcome.complete(Optional.of(new GroupLease(engine, all)));
      return;
    }
    GroupLease.dropAll(engine, all);
    if (waits && engine.time().nanos() - deadline < 0) {
      askForTheRest(false);
    } else {
      finish(() -> outcome.complete(Optional.empty()));
    }
  }

  private void fail(Throwable error) {
    Throwable cause = error instanceof CompletionException ? error.getCause() : error;
    finish(() -> outcome.completeExceptionally(cause == null ? error : cause));
  }

  private void finish(Runnable tell) {
    List<Lease> back;
    List<CompletableFuture<Optional<Lease>>> requests;
    mutex.lock();
    try {
      if (over) {
        return;
      }
      over = true;
      timeout.cancel();
      back = List.copyOf(held);
      requests = underWay;
    } finally {
      mutex.unlock();
    }
    requests.forEach(request -> request.cancel(false));
    GroupLease.dropAll(engine, back);
    tell.run();
  }
}
