package io.pawl.sql.transaction;

import io.pawl.concurrent.Uninterruptibly;
import io.pawl.sql.connection.OwnThread;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tells that something is due, a while later and on a thread of its own, until it is closed. */
final class Later implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(Later.class);

  private final Runnable due;
  private final ThreadPoolExecutor thread;
  private final AtomicBoolean awaited = new AtomicBoolean();
  private final CountDownLatch closing = new CountDownLatch(1);

  Later(Runnable due, String threadName) {
    this.due = due;
    this.thread = OwnThread.named(threadName);
  }

  /** In so long, unless it is to be told of already. */
  void tell(long nanos) {
    if (awaited.getAndSet(true)) {
      return;
    }
    try {
      thread.execute(() -> await(nanos));
    } catch (Error e) { // no thread can be started: the next one tries again
      log.debug("nobody tells what is due", e);
      awaited.set(false);
    }
  }

  private void await(long nanos) {
    boolean closed = Uninterruptibly.await(closing, nanos);
    awaited.set(false);
    if (!closed) {
      due.run();
    }
  }

  @Override
  public void close() {
    closing.countDown();
    thread.shutdown();
  }
}
