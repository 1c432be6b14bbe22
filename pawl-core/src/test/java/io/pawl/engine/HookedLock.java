package io.pawl.engine;

import java.lang.reflect.Field;
import java.util.concurrent.locks.ReentrantLock;

/** A mutex at which something happens once: what another thread could have done there. */
final class HookedLock extends ReentrantLock {

  private static final long serialVersionUID = 1;

  private transient Runnable beforeLock;
  private transient Runnable afterUnlock;

  private HookedLock(Runnable beforeLock, Runnable afterUnlock) {
    this.beforeLock = beforeLock;
    this.afterUnlock = afterUnlock;
  }

  /** Runs {@code hook} where a thread is about to take the mutex of {@code owner}. */
  static void before(Object owner, Runnable hook) throws ReflectiveOperationException {
    put(owner, new HookedLock(hook, () -> {}));
  }

  /** Runs {@code hook} where a thread has let go of the mutex of {@code owner}. */
  static void after(Object owner, Runnable hook) throws ReflectiveOperationException {
    put(owner, new HookedLock(() -> {}, hook));
  }

  private static void put(Object owner, HookedLock lock) throws ReflectiveOperationException {
    Field mutex = owner.getClass().getDeclaredField("mutex");
    mutex.setAccessible(true);
    mutex.set(owner, lock);
  }

  @Override
  public void lock() {
    Runnable once = beforeLock;
    beforeLock = () -> {};
    once.run();
    super.lock();
  }

  @Override
  public void unlock() {
    super.unlock();
    Runnable once = afterUnlock;
    afterUnlock = () -> {};
    once.run();
  }
}
