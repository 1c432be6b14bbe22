package io.pawl.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.concurrent.SystemTime;
import io.pawl.concurrent.Workers;
import io.pawl.memory.MemoryStore;
import io.pawl.options.LockObserver;
import io.pawl.options.LockOptions;
import io.pawl.options.PawlOptions;
import io.pawl.spi.Mode;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A client changes the capacity of a semaphore as one of its threads asks for permits. */
class CapacityRaceTest {

  private static final String NAME = "permits";

  private final SystemTime time = new SystemTime("capacity-race");
  private final Engine engine =
      new Engine(
          new MemoryStore(),
          PawlOptions.defaults(),
          time,
          Workers.on(Runnable::run, Runnable::run),
          new Random(1),
          "client");

  @AfterEach
  void close() {
    time.close();
  }

  /** Else each is kept, with nobody in it, until the client is closed. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void p8_nothingLeftBehind_aQueueThatWaitsForItsFirstRequestAsTheCapacityChanges(boolean strict) {
    LockOptions usual = LockOptions.defaults();
    LockOptions options = strict ? usual.strictOrder() : usual;
    QueueKey key = new QueueKey(NAME, options, new Mode.Permits(1, 2));
    LocalQueue queue = engine.registry().queueFor(key);
    engine.capacityIs(NAME, 3);

    Waiter<?> late = Waiter.blocking(engine, NAME, false, false);
    assertThat(queue.enter(late, new Effects())).as("it asks in another one").isFalse();
    Loan loan = new Requests(engine, key).tryAcquire().orElseThrow();
    loan.end();
    loan.giveBack(true, LockObserver.NONE);

    assertThat(engine.isIdle()).isTrue();
  }
}
