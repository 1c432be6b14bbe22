package io.pawl.engine;

import io.pawl.concurrent.UserFailures;
import io.pawl.error.StoreException;
import io.pawl.options.LockObserver;
import java.time.Duration;
import java.util.Objects;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Calls a user's observer on the thread that causes an event, so that its failures do not reach the
 * engine: a lock must not fail with its metrics. No event allocates.
 */
final class GuardedObserver implements LockObserver {

  private static final Logger log = LoggerFactory.getLogger(GuardedObserver.class);

  private final LockObserver observer;

  GuardedObserver(LockObserver observer) {
    this.observer = observer;
  }

  @Override
  public String noteFor(String lock) {
    try {
      return Objects.requireNonNull(observer.noteFor(lock), "the observer's note is null");
    } catch (Throwable e) {
      failed(e);
      return "";
    }
  }

  @Override
  public void acquired(String lock, long token, Duration waited, boolean passed) {
    try {
      observer.acquired(lock, token, waited, passed);
    } catch (Throwable e) {
      failed(e);
    }
  }

  @Override
  public void notAcquired(String lock, Duration waited) {
    try {
      observer.notAcquired(lock, waited);
    } catch (Throwable e) {
      failed(e);
    }
  }

  @Override
  public void waiting(String lock, boolean behindOwn) {
    try {
      observer.waiting(lock, behindOwn);
    } catch (Throwable e) {
      failed(e);
    }
  }

  @Override
  public void waitingEnded(String lock, Duration waited) {
    try {
      observer.waitingEnded(lock, waited);
    } catch (Throwable e) {
      failed(e);
    }
  }

  @Override
  public void released(String lock, long token, Duration held) {
    try {
      observer.released(lock, token, held);
    } catch (Throwable e) {
      failed(e);
    }
  }

  @Override
  public void lost(String lock, long token, String why) {
    try {
      observer.lost(lock, token, why);
    } catch (Throwable e) {
      failed(e);
    }
  }

  @Override
  public void skipped(String job) {
    try {
      observer.skipped(job);
    } catch (Throwable e) {
      failed(e);
    }
  }

  @Override
  public void storeFailed(String lock, StoreException failure) {
    try {
      observer.storeFailed(lock, failure);
    } catch (Throwable e) {
      failed(e);
    }
  }

  /** Of checked exceptions too: other languages throw them undeclared. */
  static void failed(Throwable e) {
    UserFailures.log(e, failure -> log.error("a lock observer failed", failure));
  }
}
