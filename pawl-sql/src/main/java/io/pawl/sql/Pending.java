package io.pawl.sql;

import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What one caller wants decided in a transaction that it shares with others. It may be decided
 * several times, if the transaction has to be repeated; only the last answer counts, and is given
 * after the commit.
 */
abstract class Pending<T> {

  private final CompletableFuture<T> answer = new CompletableFuture<>();
  private @Nullable T result;
  private @Nullable RuntimeException refusal;

  final CompletableFuture<T> answer() {
    return answer;
  }

  /** What {@code decision} throws is this request's own; the others of its transaction go on. */
  final void decide(Supplier<@Nullable T> decision) {
    result = null;
    refusal = null;
    try {
      result = decision.get();
    } catch (RuntimeException e) {
      refusal = e;
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
