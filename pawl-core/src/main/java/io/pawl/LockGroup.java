package io.pawl;

import io.pawl.concurrent.Durations;
import io.pawl.concurrent.Uninterruptibly;
import io.pawl.engine.Asker;
import io.pawl.engine.Engine;
import io.pawl.engine.GroupAcquisition;
import io.pawl.engine.GroupLoan;
import io.pawl.engine.QueueKey;
import io.pawl.engine.Requests;
import io.pawl.error.StoreException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.options.LockOptions;
import io.pawl.options.PawlOptions;
import io.pawl.spi.LockName;
import io.pawl.spi.Mode;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Several locks that are taken together or not at all. Obtained from {@link Pawl#lockAll}. The
 * object is cheap and thread-safe, and holds nothing itself.
 *
 * <p>Groups never block each other for ever, in whatever order their callers give the names. A
 * group first asks for all locks at once, in one trip where the store can. If all are free, it is
 * done. Otherwise it keeps the locks up to the first busy one, in the order of names, gives the
 * others back, and waits in the queue for the busy one; then it asks for the rest at once again. So
 * a group that waits holds only locks whose names come before the one that it waits for, and it
 * stands in the queue at most once for each of its locks.
 *
 * <p>The price: a request for one of the group's smaller names waits as long as the group does. A
 * group does not starve, since each place in the queue is served in turn. A caller that already
 * holds a lease while it asks for a group gives up the protection from deadlocks, as with any
 * nesting.
 *
 * <p>A lease {@linkplain LockOptions#renewal without renewal} counts for each lock from its own
 * grant on, while others may still be waited for: {@link GroupLease#remaining} has what is left.
 *
 * <p>All methods throw {@link StoreException} when the store fails for longer than the client's
 * {@link PawlOptions#patience}, and {@link IllegalStateException} once the client is closed. Then
 * nothing is held and nothing is in the queue.
 */
public final class LockGroup {

  /** The largest number of locks in a group: 256. */
  public static final int MAX_NAMES = 256;

  private final Engine engine;
  private final List<String> names;
  private final LockOptions options;

  LockGroup(Engine engine, @Nullable Collection<@Nullable String> names, LockOptions options) {
    this.engine = engine;
    this.names = inOrder(names);
    DistributedLock.refuseSticky(options, "group of locks", this.names.toString());
    this.options = options;
  }

  private static List<String> inOrder(@Nullable Collection<@Nullable String> names) {
    if (names == null || names.isEmpty()) {
      throw new IllegalArgumentException(
          "lock names: there are none; name at least one lock to take");
    }
    if (names.size() > MAX_NAMES) {
      throw new IllegalArgumentException(
          "lock names: " + names.size() + " are more than " + MAX_NAMES + "; lock something wider");
    }
    TreeSet<String> sorted = new TreeSet<>();
    int number = 0;
    for (String name : names) {
      number++;
      if (name == null) {
        throw new IllegalArgumentException("lock names: number " + number + " is null");
      }
      if (!sorted.add(LockName.check(name))) {
        throw new IllegalArgumentException(
            "lock names: '" + name + "' is there twice; name each lock once");
      }
    }
    return List.copyOf(sorted);
  }

  /** Returns the locks' names, in the order in which the group waits for them. */
  public List<String> names() {
    return names;
  }

  /**
   * Waits until all locks are held.
   *
   * @throws InterruptedException when interrupted before or while waiting; nothing stays held or in
   *     the queue
   */
  public GroupLease acquire() throws InterruptedException {
    return tryAcquire(Durations.LONGEST)
        .orElseThrow(() -> new IllegalStateException("a wait of 100 years has ended"));
  }

  /**
   * As {@link #acquire}, without blocking; the wait has no bound. Cancelling the future gives back
   * what is held and leaves the queue.
   */
  public CompletableFuture<GroupLease> acquireAsync() {
    return async(Durations.LONGEST, Optional::orElseThrow);
  }

  /**
   * Takes all locks if they are free now, without waiting for holders; empty when one is busy. Of
   * several calls that try the same names at once, in one client or in many, one gets them if they
   * are free. When a refused call returns, what it took has been given back, unless the store needs
   * more than 500 ms for all of it.
   *
   * @throws StoreUnavailableException when the store has not answered within 500 ms
   */
  public Optional<GroupLease> tryAcquire() {
    return await(start(Duration.ZERO, false));
  }

  /**
   * Waits for all locks for at most {@code wait} altogether; empty when one stayed busy. A store
   * that has not answered at all by then gets another 500 ms before this method throws. It gets the
   * same time to confirm what is given back: when this method returns empty or throws, nothing is
   * held any more as far as the store answers.
   *
   * @param wait 0 does not wait; more than 100 years count as 100 years
   * @throws IllegalArgumentException for a negative wait
   * @throws InterruptedException when interrupted before or while waiting; nothing stays held or in
   *     the queue
   */
  public Optional<GroupLease> tryAcquire(Duration wait) throws InterruptedException {
    long waitNanos = Durations.waitNanos(wait);
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    if (waitNanos == 0) {
      return tryAcquire();
    }
    boolean unbounded = waitNanos == Durations.LONGEST.toNanos();
    GroupAcquisition acquisition = start(wait, unbounded);
    try {
      Uninterruptibly.end(acquisition.outcome()).await();
      return acquisition.outcome().get().map(GroupLease::of);
    } catch (InterruptedException e) {
      acquisition.abandonAndWait();
      throw e;
    } catch (ExecutionException e) {
      throw failure(e);
    }
  }

  private static Optional<GroupLease> await(GroupAcquisition acquisition) {
    try {
      return Uninterruptibly.get(acquisition.outcome()).map(GroupLease::of);
    } catch (ExecutionException e) {
      throw failure(e);
    }
  }

  /**
   * As {@link #tryAcquire(Duration)}, without blocking. Cancelling the future gives back what is
   * held and leaves the queue.
   *
   * @throws IllegalArgumentException for a negative wait
   */
  public CompletableFuture<Optional<GroupLease>> tryAcquireAsync(Duration wait) {
    return async(wait, Function.identity());
  }

  private <T> CompletableFuture<T> async(Duration wait, Function<Optional<GroupLease>, T> result) {
    GroupAcquisition acquisition = start(wait, false);
    CompletableFuture<T> future = new CompletableFuture<>();
    acquisition
        .outcome()
        .whenCompleteAsync(
            (loan, error) -> {
              if (error != null) {
                future.completeExceptionally(error);
                return;
              }
              T value;
              try {
                value = result.apply(loan.map(GroupLease::of));
              } catch (Throwable e) { // of memory: somebody waits for an answer
                future.completeExceptionally(e);
                return;
              }
              if (!future.complete(value)) {
                loan.ifPresent(GroupLoan::drop);
              }
            },
            engine.workers().users());
    future.whenComplete(
        (lease, error) -> {
          if (!acquisition.outcome().isDone()) {
            acquisition.abandon();
          }
        });
    return future;
  }

  private GroupAcquisition start(Duration wait, boolean mayBlock) {
    long waitNanos = Durations.waitNanos(wait);
    Asker asker = Asker.here(engine, names.get(0));
    List<Requests> locks =
        names.stream()
            .map(name -> new Requests(engine, new QueueKey(name, options, Mode.EXCLUSIVE)))
            .toList();
    GroupAcquisition acquisition = new GroupAcquisition(engine, locks, asker, waitNanos);
    acquisition.start(mayBlock);
    return acquisition;
  }

  private static RuntimeException failure(ExecutionException e) {
    if (e.getCause() instanceof RuntimeException cause) {
      return cause;
    }
    return new IllegalStateException(e.getCause());
  }

  @Override
  public String toString() {
    return "LockGroup" + names + " on " + engine.store().describe();
  }
}
