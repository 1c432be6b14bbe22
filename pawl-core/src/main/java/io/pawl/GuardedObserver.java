package io.pawl;

import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Lets no failure of a user's observer reach the engine: a lock must not hang on its metrics. */
final class GuardedObserver implements LockObserver {

  private static final Logger log = LoggerFactory.getLogger(GuardedObserver.class);

  private final LockObserver observer;

  GuardedObserver(LockObserver observer) {
    this.observer = observer;
  }

  @Override
  public void acquired(String lock, long token, Duration waited, boolean passed) {
    guard(() -> observer.acquired(lock, token, waited, passed));
  }

  @Override
  public void notAcquired(String lock, Duration waited) {
    guard(() -> observer.notAcquired(lock, waited));
  }

  @Override
  public void released(String lock, long token, Duration held) {
    guard(() -> observer.released(lock, token, held));
  }

  @Override
  public void lost(String lock, long token, String why) {
    guard(() -> observer.lost(lock, token, why));
  }

  @Override
  public void storeFailed(String lock, StoreException failure) {
    guard(() -> observer.storeFailed(lock, failure));
  }

  private static void guard(Runnable call) {
    try {
      call.run();
    } catch (RuntimeException | Error e) {
      log.error("a lock observer failed", e);
    }
  }
}
