package io.pawl.etcd;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The requests of one client for one lock, one after another: they travel on several connections,
 * and have to take effect in the order in which they were made. One whose time is over before its
 * turn is never sent. Thread-safe.
 */
final class Turns {

  private final Deadlines deadlines;
  private final ReentrantLock mutex = new ReentrantLock();
  private final Map<String, ArrayDeque<Supplier<CompletableFuture<?>>>> lines = new HashMap<>();

  Turns(Deadlines deadlines) {
    this.deadlines = deadlines;
  }

  /** Runs {@code request} when those made before for {@code lock} are answered. */
  <T> CompletableFuture<T> take(String lock, Supplier<CompletableFuture<T>> request) {
    CompletableFuture<T> answer = new CompletableFuture<>();
    AtomicBoolean decided = new AtomicBoolean(); // begun or given up, whichever came first
    Supplier<CompletableFuture<?>> turn =
        () -> decided.compareAndSet(false, true) ? answered(request, answer) : answer;
    deadlines.limit(answer, () -> !decided.compareAndSet(false, true));
    mutex.lock();
    try {
      ArrayDeque<Supplier<CompletableFuture<?>>> line = lines.get(lock);
      if (line != null) {
        line.add(turn);
        return answer;
      }
      lines.put(lock, new ArrayDeque<>());
    } finally {
      mutex.unlock();
    }
    work(lock, turn);
    return answer;
  }

  private static <T> CompletableFuture<?> answered(
      Supplier<CompletableFuture<T>> request, CompletableFuture<T> answer) {
    CompletableFuture<T> asked;
    try {
      asked = request.get();
    } catch (RuntimeException | Error e) {
      asked = CompletableFuture.failedFuture(e);
    }
    return asked.whenComplete(
        (value, error) -> {
          if (error == null) {
            answer.complete(value);
          } else {
            answer.completeExceptionally(error);
          }
        });
  }

  private void work(String lock, Supplier<CompletableFuture<?>> first) {
    for (Supplier<CompletableFuture<?>> turn = first; turn != null; turn = next(lock)) {
      CompletableFuture<?> answer = turn.get();
      if (!answer.isDone()) {
        answer.whenComplete((value, error) -> workOn(lock));
        return;
      }
    }
  }

  private void workOn(String lock) {
    Supplier<CompletableFuture<?>> next = next(lock);
    if (next != null) {
      work(lock, next);
    }
  }

  private @Nullable Supplier<CompletableFuture<?>> next(String lock) {
    mutex.lock();
    try {
      ArrayDeque<Supplier<CompletableFuture<?>>> line = lines.get(lock);
      Supplier<CompletableFuture<?>> next = line == null ? null : line.poll();
      if (next == null) {
        lines.remove(lock);
      }
      return next;
    } finally {
      mutex.unlock();
    }
  }
}
