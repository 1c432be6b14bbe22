package io.pawl.etcd.gateway;

import io.pawl.concurrent.DaemonThreads;
import io.pawl.concurrent.Ends;
import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Closes connections to members that do not take in what is written, or are too slow to agree on
 * TLS: a socket has a time limit for each read, and none for writing. A connection in the making
 * ends with the client, too. One thread for all connections of a client. Thread-safe.
 */
final class WriteLimits implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(WriteLimits.class);

  private final ScheduledThreadPoolExecutor timer =
      new ScheduledThreadPoolExecutor(1, DaemonThreads.numbered("pawl-etcd-limit-"));

  private final ReentrantLock mutex = new ReentrantLock();
  private final Map<Closeable, Long> writing = new IdentityHashMap<>();
  private boolean armed;
  private long armedFor;
  private boolean closed;

  /**
   * Closes {@code connection} at {@code deadline} unless {@link #written} is called before. Wakes
   * no thread while writes end in time.
   *
   * @param deadline in terms of {@link System#nanoTime}
   * @throws IOException if the client was closed
   */
  void writes(Closeable connection, long deadline) throws IOException {
    mutex.lock();
    try {
      if (closed) {
        throw new IOException("the client was closed");
      }
      writing.put(connection, deadline);
      if (!armed || armedFor - deadline > 0) {
        arm(deadline);
      }
    } catch (RejectedExecutionException e) {
      throw new IOException("the client was closed", e);
    } finally {
      mutex.unlock();
    }
  }

  void written(Closeable connection) {
    mutex.lock();
    try {
      writing.remove(connection);
    } finally {
      mutex.unlock();
    }
  }

  /** Under the mutex. */
  private void arm(long deadline) {
    timer.schedule(this::look, deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
    armed = true;
    armedFor = deadline;
  }

  private void look() {
    List<Closeable> late;
    mutex.lock();
    try {
      armed = false;
      late = new ArrayList<>();
      long now = System.nanoTime();
      for (Map.Entry<Closeable, Long> each : writing.entrySet()) {
        long deadline = each.getValue();
        if (now - deadline >= 0) {
          late.add(each.getKey());
        } else if (!armed || armedFor - deadline > 0) {
          arm(deadline);
        }
      }
      late.forEach(writing::remove);
    } catch (RejectedExecutionException closed) {
      return; // close() ends whoever writes
    } finally {
      mutex.unlock();
    }
    late.forEach(WriteLimits::end);
  }

  private static void end(Closeable connection) {
    try {
      connection.close();
    } catch (IOException e) {
      log.debug("a connection that was too slow did not close well", e);
    }
  }

  /** Ends whatever is under way. Waits for the end of its thread, for at most a second. */
  @Override
  public void close() {
    List<Closeable> open;
    mutex.lock();
    try {
      closed = true;
      open = List.copyOf(writing.keySet());
      writing.clear();
    } finally {
      mutex.unlock();
    }
    open.forEach(WriteLimits::end);
    timer.shutdownNow();
    Ends.of(timer);
  }
}
