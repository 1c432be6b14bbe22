package io.pawl.engine;

import io.pawl.error.StoreException;
import io.pawl.options.LockObserver;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Executor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Calls a user's observer so that neither its failures nor its slowness reach the engine: a lock
 * must not hang on its metrics.
 */
public final class GuardedObserver implements LockObserver {

  private static final Logger log = LoggerFactory.getLogger(GuardedObserver.class);

  /** Nobody listens. */
  static final GuardedObserver SILENT = new GuardedObserver(NONE, Runnable::run);

  private final LockObserver observer;
  private final Executor calls;

  /**
   * @param calls where the observer is called
   */
  GuardedObserver(LockObserver observer, Executor calls) {
    this.observer = observer;
    this.calls = calls;
  }

  /** Whether nobody listens. */
  boolean isSilent() {
    return observer == NONE;
  }

  /** Asked on the calling thread, of which it tells. */
  @Override
  public String noteFor(String lock) {
    if (isSilent()) {
      return "";
    }
    try {
      return Objects.requireNonNull(observer.noteFor(lock), "the observer's note is null");
    } catch (Throwable e) { // checked exceptions too: other languages throw them undeclared
      log.error("a lock observer failed", e);
      return "";
    }
  }

  @Override
  public void acquired(String lock, long token, Duration waited, boolean passed) {
    call(() -> observer.acquired(lock, token, waited, passed));
  }

  @Override
  public void notAcquired(String lock, Duration waited) {
    call(() -> observer.notAcquired(lock, waited));
  }

  @Override
  public void waiting(String lock, boolean behindOwn) {
    call(() -> observer.waiting(lock, behindOwn));
  }

  @Override
  public void waitingEnded(String lock, Duration waited) {
    call(() -> observer.waitingEnded(lock, waited));
  }

  @Override
  public void released(String lock, long token, Duration held) {
    call(() -> observer.released(lock, token, held));
  }

  @Override
  public void lost(String lock, long token, String why) {
    call(() -> observer.lost(lock, token, why));
  }

  @Override
  public void skipped(String job) {
    call(() -> observer.skipped(job));
  }

  @Override
  public void storeFailed(String lock, StoreException failure) {
    call(() -> observer.storeFailed(lock, failure));
  }

  private void call(Runnable event) {
    if (!isSilent()) {
      guarded(() -> calls.execute(() -> guarded(event)));
    }
  }

  private static void guarded(Runnable event) {
    try {
      event.run();
    } catch (Throwable e) { // checked exceptions too: other languages throw them undeclared
      log.error("a lock observer failed", e);
    }
  }
}
