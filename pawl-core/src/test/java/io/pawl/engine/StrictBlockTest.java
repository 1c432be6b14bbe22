package io.pawl.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.concurrent.SystemTime;
import io.pawl.memory.MemoryStore;
import io.pawl.options.LockObserver;
import io.pawl.options.LockOptions;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Waiters in strict order that are served under one hold, beside another one of theirs. */
class StrictBlockTest {

  private static final LockOptions STRICT = LockOptions.defaults().strictOrder();

  private final SystemTime time = new SystemTime("strict-block");
  private final MemoryStore store = new MemoryStore();
  private final Engine here = Engines.over(store, time, "here");
  private final Engine there = Engines.over(store, time, "there");

  @AfterEach
  void close() {
    time.close();
  }

  private static Requests lock(Engine engine, String name) {
    return new Requests(engine, new QueueKey(name, STRICT, Mode.EXCLUSIVE));
  }

  private static CompletableFuture<Loan> waiting(Engine engine) {
    return lock(engine, "lock")
        .tryAcquireAsync(Duration.ofMinutes(10), Function.<Optional<Loan>>identity())
        .thenApply(Optional::orElseThrow);
  }

  private static void giveBack(Loan loan) {
    assertThat(loan.end()).isTrue();
    loan.giveBack(true, LockObserver.NONE);
  }

  /** The hold that was downgraded is lost first, and the client hears of it last. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void p6_someoneGetsIn_inStrictOrderThoughAnEarlierHoldOfTheQueueIsLostLate(boolean heard) {
    assertThat(lock(here, "another").tryAcquire()).as("so that it asks for followers").isPresent();
    Loan first = lock(there, "lock").tryAcquire().orElseThrow();
    CompletableFuture<Loan> reader = waiting(here);
    CompletableFuture<Loan> second = waiting(here);
    giveBack(first);
    reader.join().downgrade(true).join();
    CompletableFuture<Loan> third = waiting(here);
    CompletableFuture<Loan> fourth = waiting(here);
    CompletableFuture<Loan> last = waiting(there);
    LiveClaim lost = reader.join().claim();
    long askedAt = time.nanos();
    store.evict("lock", reader.join().token()).toCompletableFuture().join();
    assertThat(second).isDone();

    if (heard) {
      lost.renewed(askedAt, Standing.GONE, null);
    }

    giveBack(second.join());
    assertThat(third).isDone();
    giveBack(third.join());
    assertThat(last).isNotDone();
    assertThat(fourth).isDone();
    giveBack(fourth.join());
    assertThat(last).isDone();
  }
}
