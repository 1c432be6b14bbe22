package io.pawl.concurrent;

import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Threads that belong to nobody's request: daemons with Pawl's own class loader, which inherit no
 * thread-locals of whoever happened to call first.
 */
public final class DaemonThreads {

  private DaemonThreads() {}

  /** Makes threads named {@code prefix} and a number from 1 on. Thread-safe. */
  public static ThreadFactory numbered(String prefix) {
    AtomicInteger numbers = new AtomicInteger();
    return task -> named(prefix + numbers.incrementAndGet(), task);
  }

  /** A thread that has not been started. */
  public static Thread named(String name, Runnable task) {
    Thread thread = new Thread(null, task, name, 0, false);
    thread.setDaemon(true);
    thread.setContextClassLoader(DaemonThreads.class.getClassLoader());
    return thread;
  }
}
