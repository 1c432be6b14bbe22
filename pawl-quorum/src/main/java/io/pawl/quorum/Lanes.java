package io.pawl.quorum;

import io.pawl.concurrent.DaemonThreads;
import java.util.ArrayDeque;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Threads for a node whose verbs block: requests for one lock go one after another, in their order,
 * those for different locks mostly side by side. At most 10,000 wait.
 */
final class Lanes implements AutoCloseable {

  private static final int COUNT = 16;
  private static final int MOST_WAITING = 10_000;

  private final ThreadPoolExecutor threads;
  private final ReentrantLock mutex = new ReentrantLock();
  private final Lane[] lanes = new Lane[COUNT];
  private int waiting;
  private boolean closed;

  private final class Lane implements Runnable {
    private final ArrayDeque<Runnable> tasks = new ArrayDeque<>();
    private boolean running;

    @Override
    public void run() {
      for (Runnable task = next(); task != null; task = next()) {
        task.run();
      }
    }

    private @Nullable Runnable next() {
      mutex.lock();
      try {
        Runnable task = tasks.poll();
        running = task != null;
        waiting -= running ? 1 : 0;
        return task;
      } finally {
        mutex.unlock();
      }
    }
  }

  Lanes(String threadPrefix) {
    threads =
        new ThreadPoolExecutor(
            COUNT,
            COUNT,
            5,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            DaemonThreads.numbered(threadPrefix));
    threads.allowCoreThreadTimeOut(true);
    for (int i = 0; i < COUNT; i++) {
      lanes[i] = new Lane();
    }
  }

  /** Returns false, and does nothing, where too much waits or this is closed. */
  boolean execute(String lock, Runnable task) {
    Lane lane = lanes[Math.floorMod(lock.hashCode(), COUNT)];
    boolean start;
    mutex.lock();
    try {
      if (closed || waiting >= MOST_WAITING) {
        return false;
      }
      waiting++;
      lane.tasks.add(task);
      start = !lane.running;
      lane.running = true;
    } finally {
      mutex.unlock();
    }
    if (start) {
      threads.execute(lane);
    }
    return true;
  }

  /** What was begun ends, on daemon threads. */
  @Override
  public void close() {
    mutex.lock();
    try {
      closed = true;
    } finally {
      mutex.unlock();
    }
    threads.shutdown();
  }
}
