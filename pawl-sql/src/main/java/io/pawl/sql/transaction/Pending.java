package io.pawl.sql.transaction;

import java.util.Collection;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What one caller wants decided in a transaction that it shares with others. It may be decided
 * several times, if the transaction has to be repeated; only the last answer counts, and is given
 * after the commit.
 */
public abstract class Pending<T> {

  private final CompletableFuture<T> answer = new CompletableFuture<>();
  private boolean putOff;
  private boolean inDoubt;
  private @Nullable Long firstPutOffAt;
  private @Nullable T result;
  private @Nullable RuntimeException refusal;

  /** What it is about: the keys of the rows that it needs. */
  public abstract Collection<String> names();

  public final CompletableFuture<T> answer() {
    return answer;
  }

  /** What {@code decision} throws is this request's own; the others of its transaction go on. */
  public final void decide(Supplier<@Nullable T> decision) {
    putOff = false;
    result = null;
    refusal = null;
    try {
      result = decision.get();
    } catch (RuntimeException e) {
      refusal = e;
    }
  }

  /** A row of its was somebody else's: it is not decided this time. */
  public final void putOff() {
    putOff = true;
  }

  public final boolean isPutOff() {
    return putOff;
  }

  /** A try before it was put off may have been applied, and the next transaction has to know. */
  final void leaveInDoubt() {
    inDoubt = true;
  }

  final boolean isInDoubt() {
    return inDoubt;
  }

  /** How long it has been put off by {@code now}, in nanoseconds. */
  final long putOffFor(long now) {
    if (firstPutOffAt == null) {
      firstPutOffAt = now;
    }
    return now - firstPutOffAt;
  }

  public final void committed() {
    if (refusal != null) {
      answer.completeExceptionally(refusal);
    } else {
      answer.complete(result);
    }
  }

  public final void failed(RuntimeException cause) {
    answer.completeExceptionally(cause);
  }
}
