package io.pawl.spring;

import io.pawl.DistributedLock;
import io.pawl.LeaseBody;
import io.pawl.LeaseCall;
import io.pawl.LockGroup;
import io.pawl.Pawl;
import io.pawl.ScheduledJob;
import io.pawl.error.LeaseLostException;
import io.pawl.options.LockOptions;
import java.lang.reflect.UndeclaredThrowableException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.TargetSource;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.support.AopUtils;

/** Takes the lock, lets the method run, and releases the lock when it has ended. */
final class LockInterceptor implements MethodInterceptor {

  private static final Logger log = LoggerFactory.getLogger(LockInterceptor.class);

  /** Between two looks at whether the lease of a stage that is awaited is lost. */
  private static final long LOOK_SECONDS = 1;

  private final LockedMethods methods;
  private final Known<Pawl> pawl;
  private final Known<LockSettings> settings;
  private final Supplier<@Nullable Fencing> fencing;

  LockInterceptor(
      LockedMethods methods,
      Supplier<Pawl> pawl,
      Supplier<LockSettings> settings,
      Supplier<@Nullable Fencing> fencing) {
    this.methods = methods;
    this.pawl = new Known<>(pawl);
    this.settings = new Known<>(settings);
    this.fencing = fencing;
  }

  /**
   * What is asked for until it is known, and under no lock of ours: Spring makes the client under
   * its own, and whoever makes another bean under that may be waiting for ours.
   */
  private static final class Known<T> {

    private final Supplier<T> source;
    private volatile @Nullable T value;

    Known(Supplier<T> source) {
      this.source = source;
    }

    T get() {
      T known = value;
      if (known == null) {
        known = source.get();
        value = known;
      }
      return known;
    }
  }

  @Override
  public @Nullable Object invoke(MethodInvocation call) throws Throwable {
    Object target = call.getThis();
    Class<?> type = target == null ? call.getMethod().getDeclaringClass() : target.getClass();
    LockedMethod method = methods.find(call.getMethod(), type);
    if (method == null || isTakenOnAnotherThread(call)) {
      return call.proceed();
    }
    Pawl client = pawl.get();
    List<Held> handed = Leases.handedTo(call);
    if (method.job() != null) {
      String name = method.name(target, call.getArguments());
      if (suffice(handed, method, client, List.of(name))) {
        return handedOn(handed, call);
      }
      LockOptions options = method.options(settings.get().lease());
      return once(call, method, method.job(), client, client.job(name, options));
    }
    LockRequest request = request(method, client, target, call.getArguments());
    if (suffice(handed, method, client, request.names())) {
      return handedOn(handed, call);
    }
    return switch (method.completion()) {
      case RETURNED, AWAITED -> blocking(call, request);
      case STAGE -> {
        OpenTransactions.refuse(method);
        yield new StageCall(call, (LockRequest.One) request).start();
      }
      case MONO -> ReactiveCalls.mono(call, request);
      case FLUX -> ReactiveCalls.flux(call, request);
    };
  }

  /**
   * The inner of two proxies goes to a thread of its own once more, and takes the lock there: the
   * outer one would wait for a stage that waits for it, or end before a job that it keeps out.
   */
  private static boolean isTakenOnAnotherThread(MethodInvocation call) throws Exception {
    if (!(call.getThis() instanceof Advised proxy)) {
      return false;
    }
    Class<?> last = AopProxyUtils.ultimateTargetClass(proxy);
    return Completion.isAsync(AopUtils.getMostSpecificMethod(call.getMethod(), last), last)
        && takesLocks(proxy, call.getMethod().getDeclaringClass());
  }

  /** Whether it does so for methods of {@code type}, which a proxy before it may have alone. */
  private static boolean takesLocks(@Nullable Object bean, Class<?> type) throws Exception {
    if (!(bean instanceof Advised proxy) || !type.isInstance(bean)) {
      return false;
    }
    if (Stream.of(proxy.getAdvisors())
        .anyMatch(advisor -> advisor.getAdvice() instanceof LockInterceptor)) {
      return true;
    }
    TargetSource targets = proxy.getTargetSource();
    Object target = targets.getTarget();
    try {
      return takesLocks(target, type);
    } finally {
      if (target != null) {
        targets.releaseTarget(target);
      }
    }
  }

  /** Advice on the way may have changed the arguments, and another context has another client. */
  private static boolean suffice(
      List<Held> handed, LockedMethod method, Pawl client, List<String> names) {
    return !handed.isEmpty()
        && names.stream()
            .allMatch(
                name -> handed.stream().anyMatch(held -> held.suffices(method, client, name)));
  }

  /** More than once where advice before it asks again, as for a call that has failed. */
  private static @Nullable Object handedOn(List<Held> handed, MethodInvocation call)
      throws Throwable {
    handed.forEach(held -> held.taken().ensureValid());
    Leases.Innermost around = Leases.handedOn(call);
    try {
      return call.proceed();
    } finally {
      Leases.returned(around);
    }
  }

  private LockRequest request(
      LockedMethod method, Pawl client, @Nullable Object target, @Nullable Object[] arguments) {
    LockSettings usual = settings.get();
    LockOptions options = method.options(usual.lease());
    Duration wait = method.waitOr(usual.waitAtMost());
    if (method.several()) {
      LockGroup group = client.lockAll(method.allNames(target, arguments), options);
      return new LockRequest.Several(method, client, group, wait);
    }
    String name = method.name(target, arguments);
    DistributedLock lock =
        method.shared()
            ? client.readWriteLock(name, options).readLock()
            : client.lock(name, options);
    return new LockRequest.One(method, client, lock, wait);
  }

  private @Nullable Object once(
      MethodInvocation call,
      LockedMethod method,
      LockedMethod.Job times,
      Pawl client,
      ScheduledJob job)
      throws Exception {
    OpenTransactions.refuse(method);
    ScheduledJob bounded = job.minHold(times.minHold());
    if (times.maxRun() != null) {
      bounded = bounded.maxRun(times.maxRun());
    }
    boolean[] begun = {false};
    LeaseBody<Exception> body =
        lease -> {
          begun[0] = true;
          Object run = times.watch().begun(System.nanoTime());
          try {
            run(client, new Taken.One(lease), call, method);
          } finally {
            times.watch().ended(run);
          }
        };
    try {
      if (bounded.run(body)) {
        times.watch().isGood(System.nanoTime());
      } else {
        log.debug("{} is skipped: it runs elsewhere, or has just run", method.method());
        times.watch().skipped(System.nanoTime(), times.minHold());
      }
    } catch (IllegalStateException e) {
      if (begun[0] || !client.isClosed()) {
        throw e;
      }
      log.debug("{} is skipped: the application ends", method.method());
    }
    return null;
  }

  private @Nullable Object blocking(MethodInvocation call, LockRequest request) throws Exception {
    LockedMethod method = request.method();
    List<Held> outer = outer(request);
    if (!outer.isEmpty()) {
      return joined(outer, call, method);
    }
    if (OpenTransactions.isOpen()) {
      OpenTransactions.refuseAtEnd(method);
      if (!mayHold(method)) {
        OpenTransactions.refuse(method);
      }
      return untilTransactionEnds(call, request);
    }
    boolean[] begun = {false};
    Optional<Result> result;
    try {
      result =
          request instanceof LockRequest.One one
              ? one.lock()
                  .call(
                      one.waitAtMost(),
                      (LeaseCall<Result, Exception>)
                          lease -> begin(begun, new Taken.One(lease), call, request))
              : GroupCall.of(
                  ((LockRequest.Several) request).group(),
                  request.waitAtMost(),
                  lease -> begin(begun, new Taken.Several(lease), call, request));
    } catch (InterruptedException e) {
      if (begun[0]) {
        throw e;
      }
      throw interrupted(request, e);
    }
    return result.isPresent() ? result.get().value() : busy(call, request);
  }

  private Result begin(boolean[] begun, Taken taken, MethodInvocation call, LockRequest request)
      throws Exception {
    begun[0] = true;
    return run(request.client(), taken, call, request.method());
  }

  /**
   * The calls on this thread that hold what is asked for; none where nothing of it is held.
   *
   * @throws IllegalStateException where only some of several locks are held: it would wait for
   *     itself, or for somebody who waits for it
   */
  private static List<Held> outer(LockRequest request) {
    if (Leases.all().isEmpty()) {
      return List.of();
    }
    List<Held> outer = new ArrayList<>(1);
    int found = 0;
    for (String name : request.names()) {
      Held held = Leases.held(request.client(), name);
      if (held != null) {
        found++;
        if (!outer.contains(held)) {
          outer.add(held);
        }
      }
    }
    if (found > 0 && found < request.names().size()) {
      throw new IllegalStateException(
          request.method().method()
              + " wants locks "
              + request.names()
              + " together, and this thread holds some of them already; take all of them in the"
              + " outer call");
    }
    return outer;
  }

  private boolean mayHold(LockedMethod method) {
    OpenTransaction way = method.openTransaction();
    if (way == OpenTransaction.AS_CONFIGURED) {
      way = settings.get().openTransaction();
    }
    return way == OpenTransaction.HOLD && method.canHold();
  }

  /** Runs the method under what outer calls on this thread hold. */
  private @Nullable Object joined(List<Held> outer, MethodInvocation call, LockedMethod method)
      throws Exception {
    boolean checked = true;
    for (Held held : outer) {
      Taken taken = held.taken();
      if (taken.isShared() && !method.shared()) {
        throw new IllegalStateException(
            method.method()
                + " wants "
                + taken.tokens().keySet()
                + " alone, and this thread shares it: it would wait for itself");
      }
      if (held.isOverBeforeLastWrites()) {
        OpenTransactions.refuseAfterEnd(method);
      }
      taken.ensureValid();
      checked &= held.fencedCall() != null;
    }
    if (!method.fenced() || checked) { // an outer call sees to it
      return proceed(outer, call);
    }
    OpenTransactions.refuse(method);
    if (outer.size() > 1) {
      throw new IllegalStateException(
          method.method() + " is fenced, and the calls around it that hold its locks are not");
    }
    return fenced(outer.get(0), call, method);
  }

  private @Nullable Object untilTransactionEnds(MethodInvocation call, LockRequest request)
      throws Exception {
    Optional<Taken> taken;
    try {
      taken =
          request instanceof LockRequest.One one
              ? one.lock().tryAcquire(one.waitAtMost()).map(Taken.One::new)
              : ((LockRequest.Several) request)
                  .group()
                  .tryAcquire(request.waitAtMost())
                  .map(Taken.Several::new);
    } catch (InterruptedException e) {
      throw interrupted(request, e);
    }
    if (taken.isEmpty()) {
      return busy(call, request);
    }
    Held held = HeldTransactions.holdUntilEnd(request.client(), taken.get());
    taken.get().ensureValid();
    return proceed(List.of(held), call);
  }

  private Result run(Pawl client, Taken taken, MethodInvocation call, LockedMethod method)
      throws Exception {
    Held held = Leases.enter(client, taken);
    try {
      Object result = method.fenced() ? fenced(held, call, method) : proceed(List.of(held), call);
      if (method.completion() == Completion.AWAITED && result instanceof CompletionStage<?> stage) {
        failIfLost(taken, awaitEnd(stage, taken));
      }
      return new Result(result);
    } finally {
      Leases.leave(held);
    }
  }

  /**
   * However it ends: an interrupt of this thread does not end what runs on another. Where it never
   * does, until the lease is lost, as it is when the client was closed. A future's own wait would
   * run other tasks of a ForkJoinPool meanwhile, inside the lock. Returns the stage's failure.
   */
  private static @Nullable Throwable awaitEnd(CompletionStage<?> stage, Taken taken) {
    CountDownLatch end = new CountDownLatch(1);
    AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    stage.handle( // a failure is handed on to no stage, which would write it down
        (value, thrown) -> {
          failure.set(thrown);
          end.countDown();
          return true;
        });
    taken.onLost(end::countDown);
    boolean interrupted = false;
    while (end.getCount() > 0 && !isLost(taken)) {
      try {
        await(end);
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    return failure.get();
  }

  /** A callback may have to wait for others of the user's, and for room on their executor. */
  private static boolean isLost(Taken taken) {
    try {
      taken.ensureValid();
      return false;
    } catch (LeaseLostException e) {
      return true;
    } catch (IllegalStateException closed) { // by the method, which goes on
      return false;
    }
  }

  /** Throws a stage's own failure, since its caller would hear of nothing but the loss. */
  private static void failIfLost(Taken taken, @Nullable Throwable failure) throws Exception {
    try {
      taken.ensureValid();
    } catch (LeaseLostException lost) {
      Throwable own =
          failure instanceof CompletionException && failure.getCause() != null
              ? failure.getCause()
              : failure;
      if (own instanceof Exception known) {
        throw known;
      }
      if (own instanceof Error error) {
        throw error;
      }
    }
  }

  private static void await(CountDownLatch end) throws InterruptedException {
    try {
      ForkJoinPool.managedBlock(new Opening(end));
    } catch (RejectedExecutionException | OutOfMemoryError noFurtherThread) {
      end.await(LOOK_SECONDS, TimeUnit.SECONDS);
    }
  }

  private record Opening(CountDownLatch latch) implements ForkJoinPool.ManagedBlocker {

    @Override
    public boolean block() throws InterruptedException {
      latch.await(LOOK_SECONDS, TimeUnit.SECONDS);
      return true;
    }

    @Override
    public boolean isReleasable() {
      return latch.getCount() == 0;
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
    fence.enter(held.taken().tokens());
    FencedCall fencedCall = new FencedCall(fence);
    held.fence(fencedCall);
    try {
      Object result = proceed(List.of(held), call);
      if (!fencedCall.hasSeenTransaction()) {
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

  private static LockNotAcquiredException interrupted(LockRequest request, InterruptedException e) {
    Thread.currentThread().interrupt();
    return request.notAcquired(e);
  }

  private static @Nullable Object busy(MethodInvocation call, LockRequest request)
      throws Exception {
    LockedMethod method = request.method();
    if (method.fallback() != null) {
      return method.fallback().run(call, request.busy());
    }
    if (method.onBusy() == OnBusy.THROW) {
      throw request.busy();
    }
    log.debug("{} is skipped: {} is busy", method.method(), request.names());
    return nothing(method.method().getReturnType());
  }

  private static @Nullable Object nothing(Class<?> type) {
    if (type == Optional.class) {
      return Optional.empty();
    }
    if (type == OptionalInt.class) {
      return OptionalInt.empty();
    }
    if (type == OptionalLong.class) {
      return OptionalLong.empty();
    }
    return type == OptionalDouble.class ? OptionalDouble.empty() : null;
  }

  private static @Nullable Object proceed(List<Held> held, MethodInvocation call) throws Exception {
    Leases.Innermost around = Leases.called(held, call);
    try {
      return call.proceed();
    } catch (Exception | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new UndeclaredThrowableException(e);
    } finally {
      Leases.returned(around);
    }
  }

  /** A method may return null, the body of a lock may not. */
  private record Result(@Nullable Object value) {}
}
