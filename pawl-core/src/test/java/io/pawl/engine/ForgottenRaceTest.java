package io.pawl.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.concurrent.SystemTime;
import io.pawl.memory.MemoryStore;
import io.pawl.options.LockOptions;
import io.pawl.spi.Mode;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
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
    HookedLock.after(
        dropped.claim().queue(), () -> late.complete(readers.tryAcquire().orElseThrow()));

    assertThat(dropped.claim().endsForgotten()).isTrue();

    assertThat(dropped.isTrusted()).isFalse();
    assertThat(late.join().isTrusted()).isTrue();
  }
}
