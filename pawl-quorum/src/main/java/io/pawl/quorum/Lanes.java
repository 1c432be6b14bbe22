package io.pawl.quorum;

import io.pawl.concurrent.DaemonThreads;
import java.util.ArrayDeque;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Threads for a node whose verbs block: requests for one lock go one after another, in their order,
 * those for different locks mostly side by side. Renewals have threads of their own and no order,
 * so that a hold waits for no other request. At most 10,000 of either wait.
 */
final class Lanes implements AutoCloseable {

  private static final int COUNT = 16;
  private static final int MOST_WAITING = 10_000;

  private static final Logger log = LoggerFactory.getLogger(Lanes.class);

  private final ThreadPoolExecutor threads;
  private final ThreadPoolExecutor renewing;
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
        run(task);
      }
    }

    /** Where it fails, for lack of memory for example, another thread goes on. */
    private void run(Runnable task) {
      boolean ended = false;
      try {
        task.run();
        ended = true;
      } finally {
        if (!ended) {
          start(this);
        }
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
    this(DaemonThreads.numbered(threadPrefix));
  }

  Lanes(ThreadFactory factory) {
    threads = pool(new LinkedBlockingQueue<>(), factory);
    renewing = pool(new LinkedBlockingQueue<>(MOST_WAITING), factory);
    for (int i = 0; i < COUNT; i++) {
      lanes[i] = new Lane();
    }
  }

  private static ThreadPoolExecutor pool(BlockingQueue<Runnable> queue, ThreadFactory factory) {
    ThreadPoolExecutor pool =
        new ThreadPoolExecutor(COUNT, COUNT, 5, TimeUnit.SECONDS, queue, factory);
    pool.allowCoreThreadTimeOut(true);
    return pool;
  }

  /** As {@link #execute}, for a renewal. */
  boolean renew(Runnable task) {
    try {
      renewing.execute(task);
      return true;
    } catch (RuntimeException | Error e) { // full, closed, or out of memory or threads
      log.debug("a renewal cannot be sent to a node", e);
      renewing.remove(task);
      return false;
    }
  }

  /**
   * Returns false, and does nothing, where too much waits, no thread can be started, or this is
   * closed.
   */
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
    return !start || start(lane) || !isTakenBack(lane, task);
  }

  /** Where it fails, whoever comes next tries again. */
  private boolean start(Lane lane) {
    try {
      threads.execute(lane);
      return true;
    } catch (RuntimeException | Error e) { // closed meanwhile, or out of memory or threads
      log.debug("no thread can be started for requests to a node", e);
      mutex.lock();
      try {
        lane.running = false;
      } finally {
        mutex.unlock();
      }
      return false;
    }
  }

  private boolean isTakenBack(Lane lane, Runnable task) {
    mutex.lock();
    try {
      boolean ours = lane.tasks.remove(task);
      waiting -= ours ? 1 : 0;
      return ours;
    } finally {
      mutex.unlock();
    }
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
    renewing.shutdown();
  }
}
