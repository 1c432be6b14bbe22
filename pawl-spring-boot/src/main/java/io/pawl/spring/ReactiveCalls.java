package io.pawl.spring;

import io.pawl.GroupLease;
import io.pawl.Lease;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.interceptor.ExposeInvocationInterceptor;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

/**
 * Calls of methods that return a {@code Mono} or a {@code Flux}: each subscription takes the lock,
 * and holds it until it has completed or failed. A {@code Mono} that is cancelled meanwhile goes on
 * to its end, since nobody could tell when a transaction under it has ended. A {@code Flux} may
 * have no end: it is cancelled, and the lock released at once.
 */
final class ReactiveCalls {

  private ReactiveCalls() {}

  static Mono<Object> mono(MethodInvocation call, LockRequest request) {
    Mono<Object> run =
        take(request)
            .flatMap(taken -> toItsEnd(under(taken, call, request)))
            .doOnDiscard(Taken.class, Taken::closeAsync);
    Mono<Object> own = run.onErrorResume(Busy.class, busy -> Mono.from(otherwise(call, busy)));
    return Mono.deferContextual(
        context -> {
          Taken taken = handedTo(call, request, context);
          return taken == null ? own : one(taken, call, request);
        });
  }

  static Flux<Object> flux(MethodInvocation call, LockRequest request) {
    Flux<Object> run =
        Flux.usingWhen(
            take(request),
            taken -> many(taken, call, request),
            ReactiveCalls::release,
            ReactiveCalls::release,
            ReactiveCalls::release);
    Flux<Object> own = run.onErrorResume(Busy.class, busy -> Flux.from(otherwise(call, busy)));
    return Flux.deferContextual(
        context -> {
          Taken taken = handedTo(call, request, context);
          return taken == null ? own : many(taken, call, request);
        });
  }

  private static Mono<Object> under(Taken held, MethodInvocation call, LockRequest request) {
    return Mono.usingWhen(
        Mono.just(held),
        taken -> one(taken, call, request),
        ReactiveCalls::release,
        ReactiveCalls::release,
        ReactiveCalls::release);
  }

  /** Whoever cancels it hears no more of it. */
  private static Mono<Object> toItsEnd(Mono<Object> run) {
    return Mono.create(
        heard ->
            run.contextWrite(context -> context.putAll(heard.contextView()))
                .subscribe(heard::success, heard::error, heard::success));
  }

  private static Context with(
      Taken taken, MethodInvocation call, LockRequest request, Context context) {
    Held held = new Held(request.client(), taken);
    Context with = context.put(Handed.class, new Handed(call, held));
    return taken instanceof Taken.Several several
        ? with.put(GroupLease.class, several.lease())
        : with.put(Lease.class, ((Taken.One) taken).lease());
  }

  /**
   * The innermost call of a subscription: a reactive transaction goes on with it when that comes,
   * on whatever thread.
   */
  private record Handed(MethodInvocation call, Held held) {}

  /** What {@code call} runs under since a proxy of its proxy took it, null where none did. */
  private static @Nullable Taken handedTo(
      MethodInvocation call, LockRequest request, ContextView context) {
    Handed handed = context.<@Nullable Handed>getOrDefault(Handed.class, null);
    return handed != null
            && Leases.isHandedTo(call, handed.call)
            && request.names().stream()
                .allMatch(name -> handed.held.suffices(request.method(), request.client(), name))
        ? handed.held.taken()
        : null;
  }

  /** This call's lock stayed busy: what fails in the method itself is another matter. */
  private static final class Busy extends RuntimeException {

    private static final long serialVersionUID = 1;

    private final transient LockRequest request;

    Busy(LockRequest request) {
      super(null, null, false, false);
      this.request = request;
    }
  }

  private static Publisher<?> otherwise(MethodInvocation call, Busy busy) {
    LockNotAcquiredException reason = busy.request.busy();
    Fallback fallback = busy.request.method().fallback();
    if (fallback == null) {
      return Mono.error(reason);
    }
    try {
      Object result = fallback.run(call, reason);
      if (result == null) {
        throw new IllegalStateException(
            fallback.method() + " returned null in place of a publisher");
      }
      return (Publisher<?>) result;
    } catch (Exception e) {
      return Mono.error(e);
    }
  }

  private static Mono<Taken> take(LockRequest request) {
    Mono<Taken> taken =
        request instanceof LockRequest.One one
            ? granted(() -> one.lock().tryAcquireAsync(one.waitAtMost()), Taken.One::new, one)
            : granted(
                () -> ((LockRequest.Several) request).group().tryAcquireAsync(request.waitAtMost()),
                Taken.Several::new,
                request);
    Mono<Taken> allowed =
        OpenTransactions.arePossible
            ? OpenTransactions.refusedReactively(request.method()).then(taken)
            : taken;
    return allowed.doOnDiscard(Taken.class, Taken::closeAsync);
  }

  /** A grant that comes as the subscription is cancelled is given back. */
  private static <L> Mono<Taken> granted(
      Supplier<CompletableFuture<Optional<L>>> asked,
      Function<L, Taken> taken,
      LockRequest request) {
    return Mono.fromFuture(asked)
        .doOnDiscard(Optional.class, ReactiveCalls::giveBack)
        .flatMap(
            granted ->
                granted.map(lease -> Mono.just(taken.apply(lease))).orElseGet(() -> busy(request)));
  }

  private static void giveBack(Optional<?> granted) {
    if (granted.isPresent() && granted.get() instanceof Lease lease) {
      lease.closeAsync();
    } else if (granted.isPresent() && granted.get() instanceof GroupLease lease) {
      lease.closeAsync();
    }
  }

  private static Mono<Taken> busy(LockRequest request) {
    return request.method().onBusy() == OnBusy.SKIP ? Mono.empty() : Mono.error(new Busy(request));
  }

  private static Mono<Void> release(Taken taken) {
    return Mono.fromFuture(taken::closeAsync);
  }

  /** Its failure is what the subscriber hears of; a loss is told in it. */
  private static Mono<Void> release(Taken taken, Throwable failure) {
    return release(taken)
        .onErrorResume(
            lost -> {
              if (lost != failure) {
                failure.addSuppressed(lost);
              }
              return Mono.empty();
            });
  }

  private static Mono<Object> one(Taken taken, MethodInvocation call, LockRequest request) {
    return Mono.<Object>from(result(call, request, taken))
        .contextWrite(context -> with(taken, call, request, context));
  }

  private static Flux<Object> many(Taken taken, MethodInvocation call, LockRequest request) {
    return Flux.<Object>from(result(call, request, taken))
        .contextWrite(context -> with(taken, call, request, context));
  }

  private static Publisher<?> result(MethodInvocation call, LockRequest request, Taken taken) {
    Held held = Leases.enter(request.client(), taken);
    Leases.Innermost around = Leases.called(List.of(held));
    try {
      taken.ensureValid();
      MethodInvocation rest = ((ProxyMethodInvocation) call).invocableClone();
      Object result = ExposeInvocationInterceptor.INSTANCE.invoke(rest); // for advice of AspectJ's
      if (result == null) {
        throw new IllegalStateException(
            call.getMethod() + " returned null in place of a publisher");
      }
      return (Publisher<?>) result;
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      return Mono.error(e);
    } finally {
      Leases.returned(around);
      Leases.leave(held);
    }
  }
}
