package io.pawl.spring;

import io.pawl.DistributedLock;
import io.pawl.Lease;
import io.pawl.LeaseCall;
import io.pawl.Pawl;
import io.pawl.ScheduledJob;
import io.pawl.options.LockOptions;
import java.lang.reflect.UndeclaredThrowableException;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.support.AopUtils;
import org.springframework.util.ClassUtils;
import org.springframework.util.function.SingletonSupplier;

/** Takes the lock, lets the method run, and releases the lock when it has ended. */
final class LockInterceptor implements MethodInterceptor {

  private static final Logger log = LoggerFactory.getLogger(LockInterceptor.class);

  private static final boolean hasTransactions =
      ClassUtils.isPresent(
          "org.springframework.transaction.support.TransactionSynchronizationManager",
          LockInterceptor.class.getClassLoader());

  private final LockedMethods methods;
  private final SingletonSupplier<Pawl> pawl;
  private final SingletonSupplier<LockSettings> settings;
  private final Supplier<@Nullable Fencing> fencing;

  LockInterceptor(
      LockedMethods methods,
      Supplier<Pawl> pawl,
      Supplier<LockSettings> settings,
      Supplier<@Nullable Fencing> fencing) {
    this.methods = methods;
    this.pawl = SingletonSupplier.of(pawl);
    this.settings = SingletonSupplier.of(settings);
    this.fencing = fencing;
  }

  @Override
  public @Nullable Object invoke(MethodInvocation call) throws Throwable {
    Object target = call.getThis();
    Class<?> type =
        target == null ? call.getMethod().getDeclaringClass() : AopUtils.getTargetClass(target);
    LockedMethod method = methods.find(call.getMethod(), type);
    if (method == null) {
      return call.proceed();
    }
    String name = method.name().of(target, call.getArguments());
    LockSettings usual = settings.obtain();
    LockOptions options = method.options(usual.lease());
    if (method.job() != null) {
      return once(call, method, method.job(), pawl.obtain().job(name, options));
    }
    DistributedLock lock =
        method.shared()
            ? pawl.obtain().readWriteLock(name, options).readLock()
            : pawl.obtain().lock(name, options);
    Duration wait = method.waitOr(usual.waitAtMost());
    return switch (method.completion()) {
      case RETURNED -> blocking(call, method, lock, wait);
      case STAGE -> new StageCall(call, method, lock, wait).start();
      case MONO -> ReactiveCalls.mono(call, method, lock, wait);
      case FLUX -> ReactiveCalls.flux(call, method, lock, wait);
    };
  }

  private @Nullable Object once(
      MethodInvocation call, LockedMethod method, LockedMethod.Job times, ScheduledJob job)
      throws Exception {
    refuseOpenTransaction(method);
    ScheduledJob bounded = job.minHold(times.minHold());
    if (times.maxRun() != null) {
      bounded = bounded.maxRun(times.maxRun());
    }
    if (!bounded.run(lease -> run(lease, call, method))) {
      log.debug("{} is skipped: it runs elsewhere, or has just run", method.method());
    }
    return null;
  }

  private @Nullable Object blocking(
      MethodInvocation call, LockedMethod method, DistributedLock lock, Duration wait)
      throws Exception {
    Held outer = Leases.held(lock.name());
    if (outer != null) {
      return joined(outer, call, method);
    }
    if (isInTransaction()) {
      if (method.fenced() || settings.obtain().openTransaction() == OpenTransaction.REFUSE) {
        refuseOpenTransaction(method);
      }
      return untilTransactionEnds(call, method, lock, wait);
    }
    boolean[] begun = {false};
    LeaseCall<Result, Exception> body =
        lease -> {
          begun[0] = true;
          return run(lease, call, method);
        };
    Optional<Result> result;
    try {
      result = lock.call(wait, body);
    } catch (InterruptedException e) {
      if (begun[0]) {
        throw e;
      }
      throw interrupted(lock, wait, e);
    }
    return result.isPresent() ? result.get().value() : busy(method, lock, wait);
  }

  /** Runs the method under the lease that an outer call on this thread holds. */
  private @Nullable Object joined(Held outer, MethodInvocation call, LockedMethod method)
      throws Exception {
    Lease lease = outer.lease();
    if (lease.isShared() && !method.shared()) {
      throw new IllegalStateException(
          method.method()
              + " wants lock '"
              + lease.lock()
              + "' alone, and this thread shares it: it would wait for itself");
    }
    lease.ensureValid();
    if (!method.fenced() || outer.fencing() != null) { // an outer call sees to it
      return proceed(call);
    }
    refuseOpenTransaction(method);
    return fenced(outer, call, method);
  }

  private @Nullable Object untilTransactionEnds(
      MethodInvocation call, LockedMethod method, DistributedLock lock, Duration wait)
      throws Exception {
    Optional<Lease> lease;
    try {
      lease = lock.tryAcquire(wait);
    } catch (InterruptedException e) {
      throw interrupted(lock, wait, e);
    }
    if (lease.isEmpty()) {
      return busy(method, lock, wait);
    }
    HeldTransactions.holdUntilEnd(lease.get());
    return proceed(call);
  }

  private Result run(Lease lease, MethodInvocation call, LockedMethod method) throws Exception {
    Held held = Leases.enter(lease);
    try {
      return new Result(method.fenced() ? fenced(held, call, method) : proceed(call));
    } finally {
      Leases.leave(held);
    }
  }

  private @Nullable Object fenced(Held held, MethodInvocation call, LockedMethod method)
      throws Exception {
    Fencing fence = fencing.get();
    if (fence == null) {
      throw new IllegalStateException(
          method.method()
              + " cannot be fenced: that takes pawl-sql, spring-jdbc and one DataSource, or one"
              + " that is @Primary");
    }
    fence.enter(held.lease());
    held.fence(fence);
    try {
      Object result = proceed(call);
      if (!held.hasSeenTransaction()) {
        throw new IllegalStateException(
            method.method()
                + " is fenced, and no transaction of its DataSource began in it: nothing was"
                + " checked; add @Transactional");
      }
      return result;
    } finally {
      held.fence(null);
    }
  }

  private static boolean isInTransaction() {
    return hasTransactions && HeldTransactions.isOpen();
  }

  private static void refuseOpenTransaction(LockedMethod method) {
    if (isInTransaction()) {
      throw new IllegalStateException(
          "a transaction is open where "
              + method.method()
              + " is called, so its lock would be released before the commit; call it outside of"
              + " the transaction, or, unless it is fenced or scheduled, set"
              + " pawl.locked.open-transaction=hold to hold the lock until the transaction ends");
    }
  }

  private static LockNotAcquiredException interrupted(
      DistributedLock lock, Duration wait, InterruptedException e) {
    Thread.currentThread().interrupt();
    return new LockNotAcquiredException(lock.name(), wait, e);
  }

  private static @Nullable Object busy(LockedMethod method, DistributedLock lock, Duration wait) {
    if (method.onBusy() == OnBusy.THROW) {
      throw new LockNotAcquiredException(lock.name(), wait, null);
    }
    log.debug("{} is skipped: lock '{}' is busy", method.method(), lock.name());
    return method.method().getReturnType() == Optional.class ? Optional.empty() : null;
  }

  private static @Nullable Object proceed(MethodInvocation call) throws Exception {
    try {
      return call.proceed();
    } catch (Exception | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new UndeclaredThrowableException(e);
    }
  }

  /** A method may return null, the body of a lock may not. */
  private record Result(@Nullable Object value) {}
}
