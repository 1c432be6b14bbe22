package io.pawl.spring.boot;

import io.pawl.error.StoreException;
import io.pawl.options.LockObserver;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

/** Tells several observers what one is told. An exception of one keeps it from those behind. */
final class Observers implements LockObserver {

  private final List<LockObserver> all;

  private Observers(List<LockObserver> all) {
    this.all = all;
  }

  static LockObserver of(List<LockObserver> all) {
    return switch (all.size()) {
      case 0 -> LockObserver.NONE;
      case 1 -> all.get(0);
      default -> new Observers(List.copyOf(all));
    };
  }

  private void tell(Consumer<LockObserver> event) {
    all.forEach(event);
  }

  @Override
  public void acquired(String lock, long token, Duration waited, boolean passed) {
    tell(observer -> observer.acquired(lock, token, waited, passed));
  }

  @Override
  public void notAcquired(String lock, Duration waited) {
    tell(observer -> observer.notAcquired(lock, waited));
  }

  @Override
  public void waiting(String lock, boolean behindOwn) {
    tell(observer -> observer.waiting(lock, behindOwn));
  }

  @Override
  public void waitingEnded(String lock, Duration waited) {
    tell(observer -> observer.waitingEnded(lock, waited));
  }

  @Override
  public void released(String lock, long token, Duration held) {
    tell(observer -> observer.released(lock, token, held));
  }

  @Override
  public void lost(String lock, long token, String why) {
    tell(observer -> observer.lost(lock, token, why));
  }

  @Override
  public void storeFailed(String lock, StoreException failure) {
    tell(observer -> observer.storeFailed(lock, failure));
  }
}
