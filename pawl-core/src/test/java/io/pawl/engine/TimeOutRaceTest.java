package io.pawl.engine;

import static org.assertj.core.api.Assertions.assertThatCode;

import io.pawl.concurrent.SystemTime;
import io.pawl.options.LockObserver;
import io.pawl.options.LockOptions;
import io.pawl.spi.Mode;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A wait that ends while the claim under way becomes another one. */
class TimeOutRaceTest {

  private final SystemTime time = new SystemTime("time-out-race");
  private final Engine engine = Engines.over(Engines.memory(TimeOutRaceTest::late), time);

  @AfterEach
  void close() {
    time.close();
  }

  /** Answers are on their way for a moment, and may be for a minute. */
  private static Object late(String verb, Callable<Object> usual) throws Exception {
    Executor later = CompletableFuture.delayedExecutor(1, TimeUnit.MILLISECONDS);
    return switch (verb) {
      case "answerTime" -> Duration.ofMinutes(1);
      case "attempt" ->
          ((CompletionStage<?>) usual.call()).thenApplyAsync(standing -> standing, later);
      default -> usual.call();
    };
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4})
  void aHolderThatGivesBackBetweenTwoLooksOfAWaiterMakesNoStoreSilent(int look) throws Exception {
    LockOptions unpassed = LockOptions.defaults().localPassing(1, Duration.ZERO);
    QueueKey key = new QueueKey("lock", unpassed, Mode.EXCLUSIVE);
    Requests requests = new Requests(engine, key);
    Loan held = requests.acquire();
    Runnable release =
        () -> {
          if (held.end()) {
            held.giveBack(true, LockObserver.NONE);
          }
        };
    HookedLock.after(engine.registry().queueFor(key), look, release);

    assertThatCode(() -> requests.tryAcquire(Duration.ofNanos(1)).ifPresent(Loan::drop))
        .doesNotThrowAnyException();
  }
}
