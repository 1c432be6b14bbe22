package io.pawl.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.options.LockObserver;
import io.pawl.options.LockOptions;
import io.pawl.spi.Mode;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** A request that is given up at the moment at which it goes on, or ends. */
class GivenUpRaceTest {

  private static final Duration WAIT = Duration.ofMillis(50);

  private final ManualTime time = new ManualTime();
  private final CompletableFuture<Void> withdrawn = new CompletableFuture<>();
  private Runnable withdrawing = () -> {};
  private final Engine engine = Engines.over(Engines.memory(this::answer), time);

  /** Confirms withdrawals when the test says so. */
  private Object answer(String verb, Callable<Object> usual) throws Exception {
    Object answer = usual.call();
    if (!verb.equals("withdraw")) {
      return answer;
    }
    withdrawing.run();
    return withdrawn;
  }

  private Requests requests(String name, Mode mode) {
    return new Requests(engine, new QueueKey(name, LockOptions.defaults(), mode));
  }

  @Test
  void aGroupThatIsGivenUpAsItBeginsToAskSaysSoWhenAllIsGivenBack() throws Exception {
    Requests readers = requests("lock", Mode.SHARED);
    Loan loan = readers.tryAcquire().orElseThrow();
    GroupAcquisition group =
        new GroupAcquisition(engine, List.of(readers), new Asker("thread", ""), Long.MAX_VALUE / 2);
    AtomicBoolean told = new AtomicBoolean();
    HookedLock.after(group, () -> told.set(group.abandon().isDone()));

    group.start(false);

    assertThat(told).as("before it has joined the readers").isFalse();
    assertThat(group.outcome().join()).isEmpty();
    loan.end();
    loan.giveBack(true, LockObserver.NONE);
    withdrawn.complete(null);
    assertThat(engine.isIdle()).isTrue();
  }

  @Test
  void aRequestThatIsGivenUpAsItsTimeEndsIsGoneWhenTheStoreKnows() throws Exception {
    assertThat(requests("lock", Mode.EXCLUSIVE).tryAcquire()).isPresent();
    Requests.Made<Optional<Loan>> made =
        requests("lock", Mode.SHARED)
            .make(WAIT, new Asker("thread", ""), Function.identity(), Runnable::run);
    CompletableFuture<CompletableFuture<Void>> gone = new CompletableFuture<>();
    withdrawing = () -> gone.complete(made.undo());
    engine.call(made.calls(), false);

    time.pass(WAIT);

    assertThat(gone.join()).isNotDone();
    withdrawn.complete(null);
    assertThat(gone.join()).isCompleted();
  }
}
