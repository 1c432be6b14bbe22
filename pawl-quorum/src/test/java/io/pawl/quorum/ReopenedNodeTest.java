package io.pawl.quorum;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.pawl.concurrent.DaemonThreads;
import io.pawl.concurrent.Time;
import io.pawl.error.StoreUnavailableException;
import io.pawl.memory.MemoryStore;
import io.pawl.spi.QuorumNode;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** A node that was out of reach when its quorum was opened. */
class ReopenedNodeTest {

  private final BlockingQueue<Runnable> put = new LinkedBlockingQueue<>();
  private final AtomicInteger asked = new AtomicInteger();
  private final AtomicBoolean scarce = new AtomicBoolean();

  private final Time time =
      new Time() {
        @Override
        public long nanos() {
          return 0;
        }

        @Override
        public long wallMillis() {
          return 0;
        }

        @Override
        public Pending after(long delayNanos, Runnable task) {
          put.add(task);
          return () -> put.remove(task);
        }
      };

  private QuorumNode awayAtFirst() {
    if (asked.incrementAndGet() == 1) {
      throw new StoreUnavailableException("away");
    }
    return new MemoryNode(new MemoryStore(), "memory");
  }

  private QuorumNode shortOfMemoryThen() {
    QuorumNode node = awayAtFirst();
    if (asked.get() == 2) {
      throw new OutOfMemoryError("for a test");
    }
    return node;
  }

  private void whatWasPutOffIsDone() throws InterruptedException {
    Runnable task = put.poll(20, TimeUnit.SECONDS);
    assertThat(task).as("what was put off").isNotNull();
    task.run();
  }

  private Thread thread(Runnable task) {
    if (scarce.get()) {
      throw new OutOfMemoryError("for a test");
    }
    return DaemonThreads.named("reopened-test", task);
  }

  @Test
  void isOpenedThoughNoThreadCouldBeStartedForATry() throws Exception {
    try (Node node = new Node("memory", this::awayAtFirst, time, new Lanes(this::thread))) {
      node.open();
      scarce.set(true);
      whatWasPutOffIsDone();
      scarce.set(false);
      whatWasPutOffIsDone();

      await().until(node::isOpen);
    }
  }

  @Test
  void isOpenedThoughMemoryWasShortForATry() throws Exception {
    try (Node node = new Node("memory", this::shortOfMemoryThen, time, new Lanes(this::thread))) {
      node.open();
      whatWasPutOffIsDone();
      whatWasPutOffIsDone();

      await().until(node::isOpen);
    }
  }
}
