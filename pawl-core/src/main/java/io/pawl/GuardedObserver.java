package io.pawl;

import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Keeps what an observer throws out of the engine: logged, and no harm done. */
record GuardedObserver(LockObserver observer) implements LockObserver {

  private static final Logger log = LoggerFactory.getLogger(GuardedObserver.class);

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
    } catch (RuntimeException e) {
      log.error("a LockObserver failed", e);
    }
  }
}
