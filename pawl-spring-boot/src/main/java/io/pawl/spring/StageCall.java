package io.pawl.spring;

import io.pawl.DistributedLock;
import io.pawl.Lease;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;

/** A call of a method that returns a stage: the lock is held until that has completed. */
final class StageCall {

  private final MethodInvocation call;
  private final LockedMethod method;
  private final DistributedLock lock;
  private final Duration wait;
  private final CompletableFuture<@Nullable Object> result = new CompletableFuture<>();

  StageCall(MethodInvocation call, LockedMethod method, DistributedLock lock, Duration wait) {
    this.call = ((ProxyMethodInvocation) call).invocableClone();
    this.method = method;
    this.lock = lock;
    this.wait = wait;
  }

  /** Cancelling what this returns ends the wait for the lock, and nothing that runs already. */
  CompletableFuture<@Nullable Object> start() {
    CompletableFuture<Optional<Optional<Object>>> run = lock.callAsync(wait, this::run);
    run.whenComplete(
        (value, error) -> {
          if (error != null) {
            result.completeExceptionally(error);
          } else if (value.isPresent()) {
            result.complete(value.get().orElse(null));
          } else if (method.onBusy() == OnBusy.SKIP) {
            result.complete(null);
          } else {
            result.completeExceptionally(new LockNotAcquiredException(lock.name(), wait, null));
          }
        });
    result.whenComplete((value, error) -> run.cancel(false));
    return result;
  }

  private CompletionStage<Optional<Object>> run(Lease lease) {
    Held held = Leases.enter(lease);
    try {
      Object stage = call.proceed();
      if (stage == null) {
        throw new IllegalStateException(method.method() + " returned null in place of a stage");
      }
      return ((CompletionStage<?>) stage).thenApply(Optional::ofNullable);
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new CompletionException(e);
    } finally {
      Leases.leave(held);
    }
  }
}
