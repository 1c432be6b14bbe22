package io.pawl.concurrent;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** What futures are made of here more than once. */
public final class Futures {

  private Futures() {}

  /** What {@code ask} returns; a failure where it throws, were it an error of the JVM. */
  public static <T> CompletableFuture<T> caught(Supplier<CompletableFuture<T>> ask) {
    try {
      return ask.get();
    } catch (RuntimeException | Error e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  /**
   * Calls {@code then} once {@code source} is complete. {@link CompletionStage#whenComplete} would
   * write the failure down for a stage that nobody has, by methods of the failure's own.
   */
  public static <T extends @Nullable Object> void whenEnded(
      CompletionStage<T> source, BiConsumer<T, @Nullable Throwable> then) {
    source.handle(
        (value, error) -> {
          then.accept(value, error);
          return true;
        });
  }

  /** Completes {@code promise} as {@code source} is. */
  public static <T extends @Nullable Object> void follow(
      CompletableFuture<T> promise, CompletionStage<T> source) {
    whenEnded(source, (value, error) -> complete(promise, value, error));
  }

  /** Completes {@code promise} with what a stage has ended with. */
  public static <T extends @Nullable Object> void complete(
      CompletableFuture<T> promise, T value, @Nullable Throwable error) {
    if (error == null) {
      promise.complete(value);
    } else {
      promise.completeExceptionally(error);
    }
  }

  /**
   * {@code source} by another value, or as it failed. A stage of its own would write the failure
   * down, and never complete where that fails.
   */
  public static <T extends @Nullable Object, U> CompletableFuture<U> mapped(
      CompletionStage<T> source, Function<T, U> by) {
    CompletableFuture<U> future = new CompletableFuture<>();
    whenEnded(
        source,
        (value, error) -> {
          if (error != null) {
            future.completeExceptionally(error);
            return;
          }
          try {
            future.complete(by.apply(value));
          } catch (RuntimeException | Error e) {
            future.completeExceptionally(e);
          }
        });
    return future;
  }

  /** {@code source} by another value; cancelling it cancels {@code source}. */
  public static <T, U> CompletableFuture<U> mapped(CompletableFuture<T> source, Function<T, U> by) {
    CompletableFuture<U> future = mapped((CompletionStage<T>) source, by);
    future.whenComplete((value, error) -> source.cancel(false));
    return future;
  }
}
