package io.pawl;

import io.pawl.memory.MemoryStore;
import io.pawl.spi.CounterStore;
import io.pawl.spi.Inspectable;
import io.pawl.spi.LockStore;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;

/** A store in memory, some of whose verbs a test answers in its own way. */
final class TwistedStore {

  private static final Class<?>[] ALL = {LockStore.class, CounterStore.class, Inspectable.class};

  /** What a verb is answered. */
  interface Twist {

    /**
     * @param usual what the store in memory answers
     */
    Object answer(String verb, Object[] arguments, Usual usual) throws Throwable;
  }

  /** Asks the store in memory. */
  interface Usual {
    Object answer() throws Throwable;
  }

  private TwistedStore() {}

  static LockStore of(MemoryStore memory, Twist twist) {
    return (LockStore)
        Proxy.newProxyInstance(
            TwistedStore.class.getClassLoader(),
            ALL,
            (proxy, method, arguments) ->
                twist.answer(
                    method.getName(),
                    arguments,
                    () -> {
                      try {
                        return method.invoke(memory, arguments);
                      } catch (InvocationTargetException e) {
                        throw e.getCause();
                      }
                    }));
  }
}
