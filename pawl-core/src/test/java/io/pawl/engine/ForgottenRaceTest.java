package io.pawl.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.concurrent.SystemTime;
import io.pawl.memory.MemoryStore;
import io.pawl.options.LockOptions;
import io.pawl.spi.Mode;
import java.lang.reflect.Field;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Readers that come as a lease is found out that was dropped. */
class ForgottenRaceTest {

  private final SystemTime time = new SystemTime("forgotten-race");
  private final Engine engine = Engines.over(new MemoryStore(), time);

  @AfterEach
  void close() {
    time.close();
  }

  /** Runs something where a thread lets go of it for the first time. */
  private static final class Hooked extends ReentrantLock {

    private static final long serialVersionUID = 1;

    private transient Runnable hook;

    Hooked(Runnable hook) {
      this.hook = hook;
    }

    @Override
    public void unlock() {
      Runnable first = hook;
      hook = () -> {};
      super.unlock();
      first.run();
    }
  }

  @Test
  void aReaderWhoComesAsADroppedLeaseIsFoundOutIsNotTakenAlong() throws Exception {
    LockOptions options = LockOptions.defaults().localPassing(100, Duration.ofSeconds(1));
    Requests readers = new Requests(engine, new QueueKey("lock", options, Mode.SHARED));
    assertThat(readers.tryAcquire()).as("so that the next hold has room").isPresent();
    Loan dropped = readers.tryAcquire().orElseThrow();
    dropped.isReachedBy(new Object());
    while (!dropped.isForgotten()) {
      System.gc();
    }
    CompletableFuture<Loan> late = new CompletableFuture<>();
    Field mutex = LocalQueue.class.getDeclaredField("mutex");
    mutex.setAccessible(true);
    mutex.set(
        dropped.claim().queue(),
        new Hooked(() -> late.complete(readers.tryAcquire().orElseThrow())));

    assertThat(dropped.claim().endsForgotten()).isTrue();

    assertThat(dropped.isTrusted()).isFalse();
    assertThat(late.join().isTrusted()).isTrue();
  }
}
