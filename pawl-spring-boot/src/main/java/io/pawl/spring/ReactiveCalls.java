package io.pawl.spring;

import io.pawl.DistributedLock;
import io.pawl.Lease;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.springframework.aop.ProxyMethodInvocation;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Calls of methods that return a {@code Mono} or a {@code Flux}: each subscription takes the lock,
 * and holds it until it has completed, failed or was cancelled.
 */
final class ReactiveCalls {

  private ReactiveCalls() {}

  static Mono<Object> mono(
      MethodInvocation call, LockedMethod method, DistributedLock lock, Duration wait) {
    return Mono.usingWhen(
        lease(method, lock, wait),
        lease ->
            Mono.from(result(call, lease)).contextWrite(context -> context.put(Lease.class, lease)),
        ReactiveCalls::release,
        (lease, error) -> release(lease),
        ReactiveCalls::release);
  }

  static Flux<Object> flux(
      MethodInvocation call, LockedMethod method, DistributedLock lock, Duration wait) {
    return Flux.usingWhen(
        lease(method, lock, wait),
        lease ->
            Flux.from(result(call, lease)).contextWrite(context -> context.put(Lease.class, lease)),
        ReactiveCalls::release,
        (lease, error) -> release(lease),
        ReactiveCalls::release);
  }

  /** A grant that comes as the subscription is cancelled is given back. */
  private static Mono<Lease> lease(LockedMethod method, DistributedLock lock, Duration wait) {
    return Mono.fromFuture(() -> lock.tryAcquireAsync(wait))
        .doOnDiscard(Optional.class, ReactiveCalls::giveBack)
        .flatMap(lease -> lease.map(Mono::just).orElseGet(() -> busy(method, lock, wait)))
        .doOnDiscard(Lease.class, Lease::closeAsync);
  }

  private static void giveBack(Optional<?> granted) {
    if (granted.isPresent() && granted.get() instanceof Lease lease) {
      lease.closeAsync();
    }
  }

  private static Mono<Lease> busy(LockedMethod method, DistributedLock lock, Duration wait) {
    return method.onBusy() == OnBusy.SKIP
        ? Mono.empty()
        : Mono.error(() -> new LockNotAcquiredException(lock.name(), wait, null));
  }

  private static Mono<Void> release(Lease lease) {
    return Mono.fromFuture(lease::closeAsync);
  }

  private static Publisher<?> result(MethodInvocation call, Lease lease) {
    Held held = Leases.enter(lease);
    try {
      @Nullable Object result = ((ProxyMethodInvocation) call).invocableClone().proceed();
      if (result == null) {
        throw new IllegalStateException(
            call.getMethod() + " returned null in place of a publisher");
      }
      return (Publisher<?>) result;
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new CompletionException(e);
    } finally {
      Leases.leave(held);
    }
  }
}
