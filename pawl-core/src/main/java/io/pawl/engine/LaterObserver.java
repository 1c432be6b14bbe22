package io.pawl.engine;

import io.pawl.error.StoreException;
import io.pawl.options.LockObserver;
import java.time.Duration;
import java.util.concurrent.Executor;

/** Calls an observer on another thread, so that its slowness does not reach the engine. */
final class LaterObserver implements LockObserver {

  private final GuardedObserver observer;
  private final Executor calls;

  LaterObserver(GuardedObserver observer, Executor calls) {
    this.observer = observer;
    this.calls = calls;
  }

  /** Asked on the calling thread, of which it tells. */
  @Override
  public String noteFor(String lock) {
    return observer.noteFor(lock);
  }

  @Override
  public void acquired(String lock, long token, Duration waited, boolean passed) {
    later(() -> observer.acquired(lock, token, waited, passed));
  }

  @Override
  public void notAcquired(String lock, Duration waited) {
    later(() -> observer.notAcquired(lock, waited));
  }

  @Override
  public void waiting(String lock, boolean behindOwn) {
    later(() -> observer.waiting(lock, behindOwn));
  }

  @Override
  public void waitingEnded(String lock, Duration waited) {
    later(() -> observer.waitingEnded(lock, waited));
  }

  @Override
  public void released(String lock, long token, Duration held) {
    later(() -> observer.released(lock, token, held));
  }

  @Override
  public void lost(String lock, long token, String why) {
    later(() -> observer.lost(lock, token, why));
  }

  @Override
  public void skipped(String job) {
    later(() -> observer.skipped(job));
  }

  @Override
  public void storeFailed(String lock, StoreException failure) {
    later(() -> observer.storeFailed(lock, failure));
  }

  private void later(Runnable event) {
    try {
      calls.execute(event);
    } catch (Throwable e) { // the user's executor refuses, or there is no memory for a thread
      GuardedObserver.failed(e);
    }
  }
}
