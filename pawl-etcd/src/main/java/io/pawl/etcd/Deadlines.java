package io.pawl.etcd;

import io.pawl.concurrent.DaemonThreads;
import io.pawl.concurrent.Ends;
import io.pawl.error.StoreUnavailableException;
import java.util.ArrayDeque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How long a verb may take as a whole, however many requests it makes and however many verbs are
 * before it. What it has begun goes on without anybody who waits for it. One thread for all verbs
 * of a client. Thread-safe.
 */
final class Deadlines implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(Deadlines.class);

  /** Before the next try where even a deadline could not be looked at. */
  private static final long PAUSE_NANOS = 10_000_000;

  private final String store;
  private final long nanos;
  private final ScheduledThreadPoolExecutor timer =
      new ScheduledThreadPoolExecutor(1, DaemonThreads.numbered("pawl-etcd-deadline-"));

  private final ReentrantLock mutex = new ReentrantLock();

  /** In the order of their ends, since each has the same time. */
  private final ArrayDeque<Pending> line = new ArrayDeque<>();

  private boolean armed;

  private static final class Pending {
    final long at;

    /** Null once it is answered. */
    volatile @Nullable Runnable end;

    Pending(long at, Runnable end) {
      this.at = at;
      this.end = end;
    }
  }

  /**
   * @param store the address for messages
   * @param nanos how long a verb may take
   */
  Deadlines(String store, long nanos) {
    this.store = store;
    this.nanos = nanos;
  }

  /**
   * Fails {@code answer} if it does not come in time.
   *
   * @param givesUp called then; returns whether the verb has begun, so that its outcome is unknown
   */
  void limit(CompletableFuture<?> answer, BooleanSupplier givesUp) {
    if (answer.isDone()) {
      return;
    }
    Pending pending =
        new Pending(
            System.nanoTime() + nanos,
            () -> answer.completeExceptionally(late(givesUp.getAsBoolean())));
    mutex.lock();
    try {
      dropAnswered();
      line.add(pending);
      if (!armed) {
        arm(nanos);
      }
    } catch (RejectedExecutionException closed) {
      return; // whatever it asks for now fails at once
    } finally {
      mutex.unlock();
    }
    answer.whenComplete((value, error) -> pending.end = null);
  }

  /** Under the mutex: so the line is as long as what is asked while its first is not answered. */
  private void dropAnswered() {
    for (Pending first = line.peek(); first != null && first.end == null; first = line.peek()) {
      line.remove();
    }
  }

  /** Under the mutex. */
  private void arm(long delay) {
    timer.schedule(this::look, delay, TimeUnit.NANOSECONDS);
    armed = true;
  }

  /** Whatever becomes of one deadline, were memory out, the others are kept. */
  private void look() {
    boolean again = true;
    while (again) {
      try {
        again = endsOne();
      } catch (RuntimeException | Error e) {
        LockSupport.parkNanos(PAUSE_NANOS);
        say(e);
      }
    }
  }

  private static void say(Throwable failure) {
    try {
      log.debug("a verb has no end in time", failure);
    } catch (RuntimeException | Error e) {
      return; // the log has no memory either, and the others have deadlines too
    }
  }

  /** Returns whether more may be due; where none is, this looks again when the next one will be. */
  private boolean endsOne() {
    Pending first;
    mutex.lock();
    try {
      long now = System.nanoTime();
      dropAnswered();
      first = line.peek();
      if (first == null || now - first.at < 0) {
        armed = false;
        if (first != null) {
          arm(first.at - now);
        }
        return false;
      }
      line.remove();
    } catch (RejectedExecutionException closed) {
      return false;
    } finally {
      mutex.unlock();
    }
    Runnable end = first.end;
    if (end != null) {
      end.run();
    }
    return true;
  }

  /** Returns the answer to a verb that has begun; a failure if it does not come in time. */
  <T> CompletableFuture<T> limited(CompletableFuture<T> begun) {
    CompletableFuture<T> answer = begun.copy();
    limit(answer, () -> true);
    return answer;
  }

  private StoreUnavailableException late(boolean begun) {
    String message = "store '" + store + "' did not answer in time";
    return begun
        ? new StoreUnavailableException(message)
        : StoreUnavailableException.unsent(message, null);
  }

  /** Verbs under way end with the requests that they make. */
  @Override
  public void close() {
    timer.shutdownNow();
    Ends.of(timer);
  }
}
