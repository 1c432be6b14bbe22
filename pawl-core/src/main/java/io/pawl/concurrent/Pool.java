package io.pawl.concurrent;

import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Threads that start with work and end after 10 idle seconds. No task is ever dropped, since
 * somebody waits for each: one for which no thread can be started is kept for a thread that there
 * is, and tried again, every 50 ms and whenever another one comes; and after {@link #close} there
 * are still threads for what comes late, or, where none can be started, the thread that brings it.
 */
final class Pool implements Executor {

  private static final long IDLE_SECONDS = 10;
  private static final long AGAIN_NANOS = 50_000_000;

  private static final Logger log = LoggerFactory.getLogger(Pool.class);

  private final Time time;
  private final ThreadPoolExecutor threads;
  private final Queue<Runnable> kept = new ConcurrentLinkedQueue<>();
  private final AtomicBoolean awaited = new AtomicBoolean();
  private volatile boolean closed;

  private Pool(
      int core, int most, BlockingQueue<Runnable> queue, ThreadFactory factory, Time time) {
    this.time = time;
    this.threads =
        new ThreadPoolExecutor(core, most, IDLE_SECONDS, TimeUnit.SECONDS, queue, factory);
    threads.allowCoreThreadTimeOut(true);
  }

  /** At most {@code size} tasks run at a time; others wait. */
  static Pool of(int size, ThreadFactory factory, Time time) {
    return new Pool(size, size, new LinkedBlockingQueue<>(), factory, time);
  }

  /** As many threads as there are tasks at a time. */
  static Pool unbounded(ThreadFactory factory, Time time) {
    return new Pool(0, Integer.MAX_VALUE, new SynchronousQueue<>(), factory, time);
  }

  @Override
  public void execute(Runnable task) {
    if (!tryStart(task)) {
      keep(task);
    } else if (!kept.isEmpty()) {
      startKept();
    }
  }

  private boolean tryStart(Runnable task) {
    try {
      threads.execute(task);
      return true;
    } catch (Error e) { // of memory, mostly: no thread can be started
      threads.remove(task);
      if (kept.isEmpty()) {
        log.warn("no thread can be started; what it was to do is tried again", e);
      }
      return false;
    }
  }

  private void keep(Runnable task) {
    kept.add(task);
    if (closed) {
      runKept();
      return;
    }
    if (threads.getPoolSize() > 0 && threads.getQueue().isEmpty()) {
      threads.getQueue().offer(this::runOneKept); // a pool that may grow would rather do that
    }
    if (!awaited.getAndSet(true)) {
      time.after(AGAIN_NANOS, this::again);
    }
  }

  private void runOneKept() {
    Runnable task = kept.poll();
    if (task != null) {
      task.run();
    }
  }

  private void again() {
    awaited.set(false);
    startKept();
  }

  private void startKept() {
    for (Runnable task = kept.poll(); task != null; task = kept.poll()) {
      if (!tryStart(task)) {
        keep(task);
        return;
      }
    }
  }

  /** Nobody comes after this one. */
  private void runKept() {
    for (Runnable task = kept.poll(); task != null; task = kept.poll()) {
      try {
        task.run();
      } catch (RuntimeException | Error e) {
        log.error("a task failed", e);
      }
    }
  }

  /** Threads that are idle end at once from now on. */
  void close() {
    closed = true;
    threads.setKeepAliveTime(1, TimeUnit.NANOSECONDS);
    if (!kept.isEmpty()) {
      startKept();
    }
  }
}
