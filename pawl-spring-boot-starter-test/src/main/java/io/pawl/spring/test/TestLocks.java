package io.pawl.spring.test;

import io.pawl.Lease;
import io.pawl.options.LockOptions;
import io.pawl.spi.Inspectable;

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
public final class TestLocks {

  private final LosableStore store;

  TestLocks(LosableStore store) {
    this.store = store;
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
