package io.pawl.spring;

import io.pawl.Lease;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.interceptor.ExposeInvocationInterceptor;

/** A call of a method that returns a stage: the lock is held until that has completed. */
final class StageCall {

  private final MethodInvocation call;
  private final LockRequest.One request;
  private final CompletableFuture<@Nullable Object> result = new CompletableFuture<>();

  StageCall(MethodInvocation call, LockRequest.One request) {
    this.call = ((ProxyMethodInvocation) call).invocableClone();
    this.request = request;
  }

  /** Cancelling what this returns ends the wait for the lock, and nothing that runs already. */
  CompletableFuture<@Nullable Object> start() {
    CompletableFuture<Optional<Optional<Object>>> run =
        request.lock().callAsync(request.waitAtMost(), this::run);
    run.whenComplete(
        (value, error) -> {
          if (error != null) {
            result.completeExceptionally(error);
          } else if (value.isPresent()) {
            result.complete(value.get().orElse(null));
          } else if (request.method().onBusy() == OnBusy.SKIP) {
            result.complete(null);
          } else {
            isBusy();
          }
        });
    result.whenComplete((value, error) -> run.cancel(false));
    return result;
  }

  private void isBusy() {
    Fallback fallback = request.method().fallback();
    if (fallback == null) {
      result.completeExceptionally(request.busy());
      return;
    }
    try {
      Object stage = fallback.run(call, request.busy());
      if (stage == null) {
        throw new IllegalStateException(fallback.method() + " returned null in place of a stage");
      }
      follow(result, (CompletionStage<?>) stage, value -> value);
    } catch (Throwable e) { // of the fallback: somebody waits for the result
      result.completeExceptionally(e);
    }
  }

  /** By {@code handle}: a stage of its own would write the failure down. */
  private static <T extends @Nullable Object> void follow(
      CompletableFuture<T> promise, CompletionStage<?> source, Function<@Nullable Object, T> by) {
    source.handle(
        (value, error) ->
            error == null
                ? promise.complete(by.apply(value))
                : promise.completeExceptionally(error));
  }

  private CompletionStage<Optional<Object>> run(Lease lease) {
    Held held = Leases.enter(request.client(), new Taken.One(lease));
    Leases.Innermost around = Leases.called(List.of(held), call);
    try {
      Object stage = ExposeInvocationInterceptor.INSTANCE.invoke(call); // for advice of AspectJ's
      if (stage == null) {
        throw new IllegalStateException(
            request.method().method() + " returned null in place of a stage");
      }
      CompletableFuture<Optional<Object>> ended = new CompletableFuture<>();
      follow(ended, (CompletionStage<?>) stage, Optional::ofNullable);
      return ended;
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new CompletionException(e);
    } finally {
      Leases.returned(around);
      Leases.leave(held);
    }
  }
}
