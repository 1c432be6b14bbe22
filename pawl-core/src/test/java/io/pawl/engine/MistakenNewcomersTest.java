package io.pawl.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.concurrent.SystemTime;
import io.pawl.concurrent.Workers;
import io.pawl.error.LockKindException;
import io.pawl.memory.MemoryStore;
import io.pawl.options.LockObserver;
import io.pawl.options.LockOptions;
import io.pawl.options.PawlOptions;
import io.pawl.spi.Mode;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Threads of a client ask at once with a capacity that is not the semaphore's. */
class MistakenNewcomersTest {

  private static final String NAME = "permits";

  private final SystemTime time = new SystemTime("mistaken-newcomers");
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

  private static QueueKey permits(int capacity) {
    return new QueueKey(NAME, LockOptions.defaults(), new Mode.Permits(1, capacity));
  }

  private Waiter<Optional<Loan>> waiter(CompletableFuture<Optional<Loan>> future)
      throws InterruptedException {
    TimeUnit.MILLISECONDS.sleep(1); // they do not come at the same time
    return Waiter.async(
        engine, NAME, true, Asker.here(engine, NAME), future, Function.identity(), Runnable::run);
  }

  /** One may be overtaken between its coming and its entering the queue. */
  @Test
  void eachIsToldOfItInWhateverOrderTheyEnterTheQueue() throws Exception {
    Loan loan = new Requests(engine, permits(2)).tryAcquire().orElseThrow();
    loan.end();
    loan.giveBack(true, LockObserver.NONE);
    CompletableFuture<Optional<Loan>> first = new CompletableFuture<>();
    CompletableFuture<Optional<Loan>> second = new CompletableFuture<>();
    Waiter<Optional<Loan>> came = waiter(first);
    Waiter<Optional<Loan>> cameLater = waiter(second);
    LocalQueue queue = engine.registry().queueFor(permits(1));
    Effects effects = new Effects();
    assertThat(queue.enter(cameLater, effects)).isTrue();
    assertThat(queue.enter(came, effects)).isTrue();

    effects.perform(engine, false);

    for (CompletableFuture<?> told : new CompletableFuture<?>[] {second, first}) {
      assertThat(told)
          .failsWithin(20, TimeUnit.SECONDS)
          .withThrowableThat()
          .havingCause()
          .isInstanceOf(LockKindException.class);
    }
  }
}
