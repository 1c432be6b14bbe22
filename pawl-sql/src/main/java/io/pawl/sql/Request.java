package io.pawl.sql;

import io.pawl.spi.Claim;
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
  private boolean putOff;
  private @Nullable Long firstPutOffAt;

  /** The locks whose rows it reads and changes. */
  abstract List<String> locks();

  /**
   * The grant rule at work.
   *
   * @param states by name; where it reads several locks, those are missing whose rows somebody else
   *     keeps locked
   */
  abstract T decide(SortedMap<String, LockState> states, long now);

  /** The claim that alone is concerned, for {@link #shortcut}. */
  @Nullable Claim claim() {
    return null;
  }

  /** How it may be decided without reading, given what is known of its lock. */
  @Nullable Shortcut shortcut(Shortcut.Known known) {
    return null;
  }

  CompletableFuture<T> answer() {
    return answer;
  }

  /** A shortcut has been taken, and this was its answer. */
  @SuppressWarnings("unchecked") // the request made the shortcut, answer and all
  final void decided(Shortcut shortcut) {
    refusal = null;
    putOff = false;
    result = (T) shortcut.answer();
  }

  final void decideWithin(SortedMap<String, LockState> states, long now) {
    result = null;
    refusal = null;
    putOff = false;
    try {
      result = decide(states, now);
    } catch (RuntimeException e) {
      refusal = e; // this request's own, the others of its transaction go on
    }
  }

  /** None of its rows could be had: it is not decided this time. */
  final void putOff() {
    putOff = true;
  }

  final boolean isPutOff() {
    return putOff;
  }

  /** How long it has been put off by {@code now}, in nanoseconds. */
  final long putOffFor(long now) {
    if (firstPutOffAt == null) {
      firstPutOffAt = now;
    }
    return now - firstPutOffAt;
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
