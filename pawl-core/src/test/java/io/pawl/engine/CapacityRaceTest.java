package io.pawl.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.concurrent.SystemTime;
import io.pawl.error.LockKindException;
import io.pawl.memory.MemoryStore;
import io.pawl.options.LockObserver;
import io.pawl.options.LockOptions;
import io.pawl.spi.Kind;
import io.pawl.spi.LockStore;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The capacity of a semaphore changes, or changed, as threads of a client ask for permits. */
class CapacityRaceTest {

  private static final String NAME = "permits";

  private final SystemTime time = new SystemTime("capacity-race");
  private final Engine engine = Engines.over(new MemoryStore(), time);

  @AfterEach
  void close() {
    time.close();
  }

  private static QueueKey permits(int capacity) {
    return new QueueKey(NAME, LockOptions.defaults(), new Mode.Permits(1, capacity));
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

  /** Whoever goes through all queues passes over one that moves to where it has been. */
  @Test
  void p5_lossIsTold_toEachHolderOfPermitsWhoseNumberChangesAsTheGraceEnds() {
    List<Loan> loans = new ArrayList<>();
    for (int i = 0; i < 64; i++) {
      QueueKey key = new QueueKey(NAME + i, LockOptions.defaults(), new Mode.Permits(1, 2));
      loans.add(new Requests(engine, key).tryAcquire().orElseThrow());
    }
    Runnable change = () -> loans.forEach(loan -> engine.capacityIs(loan.lock(), 3));
    loans.forEach(loan -> loan.loss().call(change));

    engine.lifecycle().beginClosing();
    engine.lifecycle().endHolds("the grace is over");

    assertThat(loans).noneMatch(Loan::isHeld);
  }

  /** What comes after it comes later than what came before it. */
  private void awaitTick() {
    for (long now = time.nanos(); time.nanos() == now; ) {
      Thread.onSpinWait();
    }
  }

  private Waiter<Optional<Loan>> waiter(CompletableFuture<Optional<Loan>> future) {
    awaitTick();
    return Waiter.async(
        engine, NAME, true, Asker.here(engine, NAME), future, Function.identity(), Runnable::run);
  }

  /** One may be overtaken between its coming and its entering the queue. */
  @Test
  void thoseWhoAreMistakenAreToldOfItInWhateverOrderTheyEnterTheQueue() {
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

    for (CompletableFuture<?> told : List.of(second, first)) {
      assertThat(told)
          .failsWithin(20, TimeUnit.SECONDS)
          .withThrowableThat()
          .havingCause()
          .isInstanceOf(LockKindException.class);
    }
  }

  /** Else nobody is served who asks for all permits right after his own change of the capacity. */
  @Test
  void whoeverComesAfterAQuestionIsNotRefusedByItsAnswer() {
    CompletableFuture<Standing> late = new CompletableFuture<>();
    AtomicInteger attempts = new AtomicInteger();
    LockStore store =
        Engines.memory(
            (verb, usual) ->
                verb.equals("attempt") && attempts.getAndIncrement() == 0 ? late : usual.call());
    Engine slow = Engines.over(store, time);
    Requests all =
        new Requests(slow, new QueueKey(NAME, LockOptions.defaults(), new Mode.Permits(2, 2)));
    Duration wait = Duration.ofMinutes(1);
    Function<Optional<Loan>, Optional<Loan>> same = Function.identity();
    CompletableFuture<Optional<Loan>> before = all.tryAcquireAsync(wait, same);
    awaitTick();
    CompletableFuture<Optional<Loan>> after = all.tryAcquireAsync(wait, same);

    late.complete(new Standing.OtherKind(Kind.semaphore(1)));

    assertThat(before)
        .failsWithin(20, TimeUnit.SECONDS)
        .withThrowableThat()
        .havingCause()
        .isInstanceOf(LockKindException.class);
    assertThat(after)
        .succeedsWithin(20, TimeUnit.SECONDS)
        .satisfies(l -> assertThat(l).isPresent());
  }
}
