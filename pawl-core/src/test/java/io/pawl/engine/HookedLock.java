package io.pawl.engine;

import java.lang.reflect.Field;
import java.util.concurrent.locks.ReentrantLock;

/** A mutex at which something happens once: what another thread could have done there. */
final class HookedLock extends ReentrantLock {

  private static final long serialVersionUID = 1;

  private final transient Runnable hook;
  private int locks;
  private int unlocks;

  private HookedLock(int locks, int unlocks, Runnable hook) {
    this.locks = locks;
    this.unlocks = unlocks;
    this.hook = hook;
  }

  /** Runs {@code hook} where a thread is about to take the mutex of {@code owner}. */
  static void before(Object owner, Runnable hook) throws ReflectiveOperationException {
    put(owner, new HookedLock(1, 0, hook));
  }

  /** Runs {@code hook} where a thread has let go of the mutex of {@code owner}. */
  static void after(Object owner, Runnable hook) throws ReflectiveOperationException {
    after(owner, 1, hook);
  }

  /** As {@link #after(Object, Runnable)}, when that happens for the {@code unlocks}-th time. */
  static void after(Object owner, int unlocks, Runnable hook) throws ReflectiveOperationException {
    put(owner, new HookedLock(0, unlocks, hook));
  }

  private static void put(Object owner, HookedLock lock) throws ReflectiveOperationException {
    Field mutex = owner.getClass().getDeclaredField("mutex");
    mutex.setAccessible(true);
    mutex.set(owner, lock);
  }

  @Override
  public void lock() {
    if (locks-- == 1) {
      hook.run();
    }
    super.lock();
  }

  @Override
  public void unlock() {
    boolean now = --unlocks == 0;
    super.unlock();
    if (now) {
      hook.run();
    }
  }
}
