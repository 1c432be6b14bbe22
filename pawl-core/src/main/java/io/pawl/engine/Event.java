package io.pawl.engine;

import io.pawl.concurrent.KeptInterrupts;
import io.pawl.concurrent.Uninterruptibly;
import io.pawl.concurrent.UserFailures;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Something that happens at most once, and whom to tell of it.
 *
 * <p><b>Hooks</b> are the engine's own. They run at once, on the thread that found out, and neither
 * block nor call users' code; what takes longer they tell by a stage. <b>Callbacks</b> are users'.
 * They run one after another on the client's executor, with no lock held; whoever must not go on
 * before they have run waits for them, though not for ever: a callback may itself wait for that
 * thread.
 */
public final class Event {

  /** How long {@link #awaitTold} waits for callbacks: 1 s. */
  static final long LONGEST_WAIT_NANOS = TimeUnit.SECONDS.toNanos(1);

  private static final Logger log = LoggerFactory.getLogger(Event.class);

  /** Of whose callbacks the current thread runs one. */
  private static final ThreadLocal<@Nullable Event> CALLING = new ThreadLocal<>();

  private final String name;
  private final Executor executor;
  private final ReentrantLock mutex = new ReentrantLock();
  private final CompletableFuture<Void> told = new CompletableFuture<>();
  private List<Supplier<CompletableFuture<Void>>> hooks = List.of();
  private List<Runnable> callbacks = List.of();

  /** Whose callbacks are told of this one too; written under the mutex. */
  private volatile @Nullable Event wider;

  private boolean happened;
  private volatile boolean begun;

  /**
   * @param name of the event, for the log
   */
  public Event(String name, Executor executor) {
    this.name = name;
    this.executor = executor;
  }

  /**
   * Runs {@code hook} when it happens; on this thread if it has. All have been told once the stage
   * is complete too, which has to be well.
   */
  public void hook(Supplier<CompletableFuture<Void>> hook) {
    mutex.lock();
    try {
      if (!happened) {
        hooks = with(hooks, hook);
        return;
      }
    } finally {
      mutex.unlock();
    }
    runHook(hook);
  }

  /**
   * With it {@code whole} happens, of which this is a part: whoever waits until all have been told
   * waits for the callbacks of both. To be called once.
   */
  void isPartOf(Event whole) {
    mutex.lock();
    try {
      wider = whole;
      if (!happened) {
        return;
      }
    } finally {
      mutex.unlock();
    }
    whole.happen(null);
  }

  /** Calls {@code callback} when it happens; soon if it has. */
  public void call(Runnable callback) {
    mutex.lock();
    try {
      if (!happened) {
        callbacks = with(callbacks, callback);
        return;
      }
    } finally {
      mutex.unlock();
    }
    executor.execute(() -> guarded(callback));
  }

  /** Whether a user asked to be called. */
  boolean isAwaited() {
    Event whole = wider;
    mutex.lock();
    try {
      if (!callbacks.isEmpty()) {
        return true;
      }
    } finally {
      mutex.unlock();
    }
    return whole != null && whole.isAwaited();
  }

  /**
   * It has happened: the first call tells everybody. The stage completes when all have been told.
   *
   * @param observed what to call before the callbacks, if anything
   */
  public CompletableFuture<Void> happen(@Nullable Runnable observed) {
    List<Supplier<CompletableFuture<Void>>> first;
    List<Runnable> then = new ArrayList<>();
    mutex.lock();
    try {
      if (happened) {
        return told;
      }
      happened = true;
      first = hooks;
      if (observed != null) {
        then.add(observed);
      }
      then.addAll(callbacks);
    } finally {
      mutex.unlock();
    }
    CompletableFuture<Void> alsoTold = CompletableFuture.completedFuture(null);
    for (Supplier<CompletableFuture<Void>> hook : first) {
      alsoTold = CompletableFuture.allOf(alsoTold, runHook(hook));
    }
    Event whole = wider;
    if (whole != null) {
      alsoTold = CompletableFuture.allOf(alsoTold, whole.happen(null));
    }
    CompletableFuture<Void> others = alsoTold;
    if (then.isEmpty()) {
      begun = true;
      others.thenRun(() -> told.complete(null));
    } else {
      executor.execute(() -> tell(then, others));
    }
    return told;
  }

  private void tell(List<Runnable> all, CompletableFuture<Void> others) {
    begun = true;
    all.forEach(this::guarded);
    others.thenRun(() -> told.complete(null));
  }

  /** One that fails keeps the news from nobody else. */
  private CompletableFuture<Void> runHook(Supplier<CompletableFuture<Void>> hook) {
    try {
      return hook.get();
    } catch (RuntimeException | Error e) {
      log.error("{}: a hook failed", name, e);
      return CompletableFuture.completedFuture(null);
    }
  }

  private void guarded(Runnable callback) {
    Event outer = CALLING.get();
    CALLING.set(this);
    try {
      callback.run();
    } catch (Throwable e) { // checked exceptions too: other languages throw them undeclared
      UserFailures.log(e, failure -> log.error("{}: a callback failed", name, failure));
    } finally {
      if (outer == null) {
        CALLING.remove();
      } else {
        CALLING.set(outer);
      }
    }
  }

  /** Whether the current thread is calling back. */
  boolean isToldHere() {
    Event calling = CALLING.get();
    return calling != null && (calling == this || calling == wider);
  }

  /**
   * Waits until all callbacks have run: for at most 1 s, and not at all from within a callback. An
   * interrupt, whose flag is kept, ends the wait once they have begun.
   */
  public void awaitTold() {
    if (told.isDone() || isToldHere()) {
      return;
    }
    long giveUpAt = System.nanoTime() + LONGEST_WAIT_NANOS;
    CountDownLatch all = Uninterruptibly.end(told);
    try (KeptInterrupts kept = new KeptInterrupts()) {
      while (!(kept.any() && begun)) {
        try {
          if (!all.await(giveUpAt - System.nanoTime(), TimeUnit.NANOSECONDS)) {
            log.warn("{}: a callback has been running for 1 s; going on beside it", name);
          }
          return;
        } catch (InterruptedException e) {
          kept.caught();
        }
      }
    }
  }

  private static <T> List<T> with(List<T> list, T one) {
    List<T> longer = new ArrayList<>(list);
    longer.add(one);
    return longer;
  }
}
