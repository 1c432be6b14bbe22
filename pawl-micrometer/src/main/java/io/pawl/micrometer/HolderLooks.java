package io.pawl.micrometer;

import io.pawl.LockSnapshot;
import io.pawl.Pawl;
import io.pawl.error.PawlException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds the traces that hold what this client waits for: after a while, then after twice as long,
 * and so on, from the start again for each new wait, one lock at a time. What was seen of a lock is
 * kept for those whose waits end later.
 */
final class HolderLooks implements AutoCloseable {

  static final int MOST_HOLDERS = 8;

  private static final int MOST_LOOKS = 10;
  private static final int MOST_LOCKS = 1_000;
  private static final int MOST_WAITED = 10_000;
  private static final long IDLE_SECONDS = 5;

  private static final Logger log = LoggerFactory.getLogger(HolderLooks.class);

  private final long firstNanos;
  private final LongSupplier nanos;
  private final Function<String, List<TraceNote>> own;
  private final ScheduledThreadPoolExecutor thread;
  private final ReentrantLock mutex = new ReentrantLock();
  private final Map<String, Waited> locks = new LinkedHashMap<>();
  private volatile @Nullable Pawl pawl;

  /** A lock that is waited for, or was. */
  private static final class Waited {
    private int waiters; // below 0 while an end has come before its beginning
    private boolean hasNewWaiter;
    private @Nullable ScheduledFuture<?> look;
    private final List<Seen> seen = new ArrayList<>();
  }

  private record Seen(TraceNote holder, long at) {}

  /**
   * @param own the traces of this client that hold a lock
   */
  HolderLooks(Duration after, LongSupplier nanos, Function<String, List<TraceNote>> own) {
    this.firstNanos = after.toNanos();
    this.nanos = nanos;
    this.own = own;
    this.thread =
        new ScheduledThreadPoolExecutor(
            1,
            task -> {
              Thread made = new Thread(null, task, "pawl-spans", 0, false); // no thread-locals
              made.setDaemon(true);
              made.setContextClassLoader(HolderLooks.class.getClassLoader());
              return made;
            });
    thread.setKeepAliveTime(IDLE_SECONDS, TimeUnit.SECONDS);
    thread.allowCoreThreadTimeOut(true);
    thread.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    thread.setRemoveOnCancelPolicy(true);
  }

  void lookAt(Pawl client) {
    pawl = client;
  }

  /** A request for the lock began to wait. */
  void begin(String lock) {
    mutex.lock();
    try {
      Waited waited = known(lock);
      waited.waiters++;
      if (waited.waiters > 0 && !thread.isShutdown()) { // its end may have come first
        waited.hasNewWaiter = true;
        if (mayPlan(waited.look)) {
          schedule(lock, waited, 1);
        }
      }
    } finally {
      mutex.unlock();
    }
  }

  private Waited known(String lock) {
    Waited waited = locks.get(lock);
    if (waited == null) {
      makeRoom();
      waited = new Waited();
      locks.put(lock, waited);
    }
    return waited;
  }

  /** Forgets what was waited for first; what is waited for now stays, for the count of waiters. */
  private void makeRoom() {
    Iterator<Waited> eldest = locks.values().iterator();
    while (locks.size() >= MOST_LOCKS && eldest.hasNext()) {
      if (eldest.next().waiters == 0 || locks.size() >= MOST_WAITED) {
        eldest.remove();
      }
    }
  }

  /** Whether no look is near; one that is far off is cancelled. */
  private boolean mayPlan(@Nullable ScheduledFuture<?> look) {
    return look == null || look.getDelay(TimeUnit.NANOSECONDS) > firstNanos && look.cancel(false);
  }

  void end(String lock) {
    mutex.lock();
    try {
      known(lock).waiters--;
    } finally {
      mutex.unlock();
    }
  }

  /** The traces that held the lock at some time during a wait that has just ended. */
  List<TraceNote> seen(String lock, Duration length) {
    long since = nanos.getAsLong() - length.toNanos();
    mutex.lock();
    try {
      Waited waited = locks.get(lock);
      return waited == null
          ? List.of()
          : waited.seen.stream().filter(seen -> seen.at - since >= 0).map(Seen::holder).toList();
    } finally {
      mutex.unlock();
    }
  }

  /** How many locks are known. */
  int size() {
    mutex.lock();
    try {
      return locks.size();
    } finally {
      mutex.unlock();
    }
  }

  /** How long it is until the next look at this lock; zero where none is planned. */
  Duration untilLook(String lock) {
    mutex.lock();
    try {
      Waited waited = locks.get(lock);
      return waited == null || waited.look == null
          ? Duration.ZERO
          : Duration.ofNanos(waited.look.getDelay(TimeUnit.NANOSECONDS));
    } finally {
      mutex.unlock();
    }
  }

  private void schedule(String lock, Waited waited, int number) {
    long delay = firstNanos << (number - 1);
    waited.look = thread.schedule(() -> look(lock, waited, number), delay, TimeUnit.NANOSECONDS);
  }

  private void look(String lock, Waited waited, int number) {
    boolean goesOn = false;
    try {
      if (isWaited(waited)) {
        note(waited, holders(lock));
        goesOn = number < MOST_LOOKS;
      }
    } finally {
      goOn(lock, waited, goesOn ? number + 1 : 0);
    }
  }

  /**
   * @param number of the next look, 0 for none
   */
  private void goOn(String lock, Waited waited, int number) {
    mutex.lock();
    try {
      waited.look = null;
      int next = waited.hasNewWaiter ? 1 : number; // it came while this look went on
      if (next > 0 && waited.waiters > 0 && !thread.isShutdown()) {
        schedule(lock, waited, next);
      }
    } finally {
      mutex.unlock();
    }
  }

  private boolean isWaited(Waited waited) {
    mutex.lock();
    try {
      waited.hasNewWaiter = false;
      return waited.waiters > 0;
    } finally {
      mutex.unlock();
    }
  }

  private List<TraceNote> holders(String lock) {
    List<TraceNote> ours = own.apply(lock);
    Pawl client = pawl;
    if (!ours.isEmpty() || client == null) {
      return ours;
    }
    List<TraceNote> found = new ArrayList<>();
    try {
      for (LockSnapshot.Claimant holder : client.inspect(lock).holders()) {
        TraceNote trace = TraceNote.parsed(holder.note());
        if (trace != null && found.size() < MOST_HOLDERS) {
          found.add(trace);
        }
      }
    } catch (PawlException | IllegalStateException | UnsupportedOperationException e) {
      log.debug("the holder of lock '{}' is not known", lock, e); // as the wait goes on without it
    }
    return found;
  }

  /** The latest of a holder's appearances counts, and the latest holders. */
  private void note(Waited waited, List<TraceNote> holders) {
    long now = nanos.getAsLong();
    mutex.lock();
    try {
      for (TraceNote holder : holders) {
        waited.seen.removeIf(seen -> seen.holder.equals(holder));
        waited.seen.add(new Seen(holder, now));
      }
      while (waited.seen.size() > MOST_HOLDERS) {
        waited.seen.remove(0);
      }
    } finally {
      mutex.unlock();
    }
  }

  @Override
  public void close() {
    mutex.lock();
    try {
      thread.shutdownNow();
    } finally {
      mutex.unlock();
    }
  }
}
