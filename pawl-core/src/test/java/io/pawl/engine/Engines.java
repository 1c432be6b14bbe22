package io.pawl.engine;

import io.pawl.concurrent.Time;
import io.pawl.concurrent.Workers;
import io.pawl.memory.MemoryStore;
import io.pawl.options.PawlOptions;
import io.pawl.spi.LockStore;
import java.lang.reflect.Proxy;
import java.util.Random;
import java.util.concurrent.Callable;

/** Engines for tests, which do all their work on the thread that asks for it. */
public final class Engines {

  private Engines() {}

  /** With the usual options. */
  public static Engine over(LockStore store, Time time) {
    return over(store, time, "client");
  }

  /** As {@link #over(LockStore, Time)}, one of several clients. */
  static Engine over(LockStore store, Time time, String client) {
    Workers workers = Workers.on(Runnable::run, Runnable::run);
    return new Engine(store, PawlOptions.defaults(), time, workers, new Random(1), client);
  }

  /** What a store does in place of what one in memory would. */
  public interface Verbs {
    Object answer(String verb, Callable<Object> usual) throws Exception;
  }

  /** A store in memory, but for {@code verbs}. */
  public static LockStore memory(Verbs verbs) {
    LockStore memory = new MemoryStore();
    return (LockStore)
        Proxy.newProxyInstance(
            LockStore.class.getClassLoader(),
            new Class<?>[] {LockStore.class},
            (proxy, method, arguments) ->
                verbs.answer(method.getName(), () -> method.invoke(memory, arguments)));
  }
}
