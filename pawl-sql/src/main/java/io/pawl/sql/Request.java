package io.pawl.sql;

import io.pawl.spi.LockState;
import java.util.List;
import java.util.SortedMap;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * What one caller wants decided, on the rows that it names. It may be decided several times, if the
 * transaction has to be repeated; only the last answer counts, and is given after the commit.
 */
abstract class Request<T> {

  private final CompletableFuture<T> answer = new CompletableFuture<>();
  private @Nullable T result;
  private @Nullable RuntimeException refusal;

  /** The locks whose rows it reads and changes. */
  abstract List<String> locks();

  /** The grant rule at work. */
  abstract T decide(SortedMap<String, LockState> states, long now);

  CompletableFuture<T> answer() {
    return answer;
  }

  final void decideWithin(SortedMap<String, LockState> states, long now) {
    result = null;
    refusal = null;
    try {
      result = decide(states, now);
    } catch (RuntimeException e) {
      refusal = e; // this request's own, the others of its transaction go on
    }
  }

  final void committed() {
    if (refusal != null) {
      answer.completeExceptionally(refusal);
    } else {
      answer.complete(result);
    }
  }

  final void failed(RuntimeException cause) {
    answer.completeExceptionally(cause);
  }
}
