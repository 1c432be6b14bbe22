package io.pawl;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;

/** Futures that users cancel. */
final class Futures {

  private Futures() {}

  /**
   * The value of a request that is never refused.
   *
   * @param giveBack for a value that came as the future was cancelled
   */
  static <T> CompletableFuture<T> present(
      CompletableFuture<Optional<T>> asked, Consumer<T> giveBack) {
    CompletableFuture<T> future = new CompletableFuture<>();
    asked.whenComplete(
        (value, error) -> {
          if (error != null) {
            future.completeExceptionally(error);
          } else if (!future.complete(value.orElseThrow())) {
            giveBack.accept(value.orElseThrow());
          }
        });
    future.whenComplete((value, error) -> asked.cancel(false));
    return future;
  }

  /** {@code source} by another value; cancelling it cancels {@code source}. */
  static <T, U> CompletableFuture<U> mapped(CompletableFuture<T> source, Function<T, U> by) {
    CompletableFuture<U> future = source.thenApply(by);
    future.whenComplete((value, error) -> source.cancel(false));
    return future;
  }
}
