package io.pawl.spring.boot;

import io.pawl.concurrent.UserFailures;
import io.pawl.error.StoreException;
import io.pawl.options.LockObserver;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tells several observers what one is told, each though another failed. */
final class Observers implements LockObserver {

  private static final Logger log = LoggerFactory.getLogger(Observers.class);

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
    for (LockObserver observer : all) {
      try {
        event.accept(observer);
      } catch (Throwable e) { // of checked exceptions too: other languages throw them undeclared
        UserFailures.log(e, failure -> log.error("lock observer {} failed", observer, failure));
      }
    }
  }

  /** What each says, with a space between. */
  @Override
  public String noteFor(String lock) {
    StringBuilder note = new StringBuilder();
    tell(
        observer -> {
          String part = observer.noteFor(lock);
          note.append(note.isEmpty() || part.isEmpty() ? "" : " ").append(part);
        });
    return note.toString();
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
  public void skipped(String job) {
    tell(observer -> observer.skipped(job));
  }

  @Override
  public void storeFailed(String lock, StoreException failure) {
    tell(observer -> observer.storeFailed(lock, failure));
  }
}
