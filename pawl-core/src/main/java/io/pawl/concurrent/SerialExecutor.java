package io.pawl.concurrent;

import java.util.ArrayDeque;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs tasks one after another, in their order, on threads of another executor. At most 1,000 wait;
 * what comes then is dropped, which the log says once.
 */
public final class SerialExecutor implements Executor {

  private static final int MOST_WAITING = 1_000;

  private static final Logger log = LoggerFactory.getLogger(SerialExecutor.class);

  private final Executor threads;
  private final String what;
  private final ReentrantLock mutex = new ReentrantLock();
  private final ArrayDeque<Runnable> waiting = new ArrayDeque<>();
  private boolean running;
  private boolean complained;

  /**
   * @param what the tasks are, for the log
   */
  public SerialExecutor(Executor threads, String what) {
    this.threads = threads;
    this.what = what;
  }

  @Override
  public void execute(Runnable task) {
    boolean complain = false;
    boolean start = false;
    mutex.lock();
    try {
      if (waiting.size() < MOST_WAITING) {
        waiting.add(task);
        start = !running;
        running = true;
      } else {
        complain = !complained;
        complained = true;
      }
    } finally {
      mutex.unlock();
    }
    if (complain) {
      log.warn("{}: {} are waiting, and more are dropped until one returns", what, MOST_WAITING);
    }
    if (start) {
      start();
    }
  }

  private void start() {
    try {
      threads.execute(this::run);
    } catch (RuntimeException | Error e) {
      stop(); // whoever comes next tries again
      throw e;
    }
  }

  private void stop() {
    mutex.lock();
    try {
      running = false;
    } finally {
      mutex.unlock();
    }
  }

  private void run() {
    for (Runnable task = next(); task != null; task = next()) {
      task.run();
    }
  }

  private @Nullable Runnable next() {
    mutex.lock();
    try {
      Runnable task = waiting.poll();
      running = task != null;
      return task;
    } finally {
      mutex.unlock();
    }
  }
}
