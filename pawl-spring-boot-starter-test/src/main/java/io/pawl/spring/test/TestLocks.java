package io.pawl.spring.test;

import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.options.LockOptions;
import io.pawl.options.PawlOptions;
import io.pawl.spi.Inspectable;
import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * What tests do to the locks of their application. A bean; thread-safe.
 *
 * <pre>{@code
 * @Autowired TestLocks locks;
 *
 * doAnswer(call -> locks.lose("orders:42")).when(warehouse).ship(42); // in the middle of a method
 * assertThatThrownBy(() -> orders.ship(42)).isInstanceOf(LeaseLostException.class);
 * }</pre>
 */
public final class TestLocks implements AutoCloseable {

  private final LosableStore store;
  private final ReentrantLock opening = new ReentrantLock();
  private @Nullable Pawl other;

  TestLocks(LosableStore store) {
    this.store = store;
  }

  private Pawl other() {
    opening.lock();
    try {
      if (other == null) {
        PawlOptions options = PawlOptions.defaults().application("another machine");
        other = Pawl.over(store, options.releaseAtShutdown(false));
      }
      return other;
    } finally {
      opening.unlock();
    }
  }

  /**
   * Takes the lock of this name as another machine would, until the lease is closed.
   *
   * @throws IllegalStateException when somebody holds it
   */
  public Lease occupy(String lock) {
    return other()
        .lock(lock)
        .tryAcquire()
        .orElseThrow(() -> new IllegalStateException("lock '" + lock + "' is held already"));
  }

  /**
   * Ends all holds, as by {@link #lose}, and forgets all counters: tests that share an application
   * find nothing of one another. Shortest holds of scheduled jobs end too. Tokens go on growing.
   * Who waits gets what is free now. A {@code @Leader} loses its lease and stands again.
   */
  public void reset() {
    store.reset();
  }

  @Override
  public void close() {
    opening.lock();
    try {
      if (other != null) {
        other.close(Duration.ZERO);
      }
    } finally {
      opening.unlock();
    }
  }

  /**
   * Takes the lock of this name away from those who hold it, as after a pause that was longer than
   * their leases: {@link Lease#isValid} is false, and {@link Lease#onLost} is called. A holder with
   * a {@linkplain LockOptions#minHold shortest hold} or without renewal hears of it at its next
   * renewal or deadline only.
   *
   * @return whether anybody held it
   */
  public boolean lose(String lock) {
    return store.lose(lock);
  }

  /** Returns whether anybody holds the lock of this name. */
  public boolean isHeld(String lock) {
    return store
        .view(lock)
        .map(Inspectable.LockView::holders)
        .filter(all -> !all.isEmpty())
        .isPresent();
  }

  /** Returns how many requests wait for the lock of this name. */
  public int waiters(String lock) {
    return store.view(lock).map(view -> view.waiters().size()).orElse(0);
  }
}
