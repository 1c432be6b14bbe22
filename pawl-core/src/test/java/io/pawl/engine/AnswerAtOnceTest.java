package io.pawl.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.concurrent.SystemTime;
import io.pawl.concurrent.Workers;
import io.pawl.memory.MemoryStore;
import io.pawl.options.LockObserver;
import io.pawl.options.LockOptions;
import io.pawl.options.PawlOptions;
import io.pawl.spi.Mode;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Optional;
import java.util.Queue;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Whom a thread asks for, where the store answers within the question. */
class AnswerAtOnceTest {

  private static final int READERS = 10;
  private static final int MOST_READS = 100_000;
  private static final LockOptions FEW =
      LockOptions.defaults().localPassing(1, Duration.ofSeconds(1));

  private final SystemTime time = new SystemTime("answer-at-once");
  private final Queue<Runnable> atWorkers = new ArrayDeque<>();
  private final Engine engine =
      new Engine(
          new MemoryStore(),
          PawlOptions.defaults(),
          time,
          new Workers(atWorkers::add, atWorkers::add, Runnable::run, Runnable::run, Runnable::run),
          new Random(1),
          "client");
  private int reads;
  private boolean enough;

  @AfterEach
  void close() {
    time.close();
  }

  private Requests requests(Mode mode) {
    return new Requests(engine, new QueueKey("lock", FEW, mode));
  }

  private void readAgain(Requests readers) {
    readers
        .tryAcquireAsync(Duration.ofMinutes(1), Optional::orElseThrow)
        .thenAccept(
            loan -> {
              end(loan);
              if (!enough && ++reads < MOST_READS) {
                readAgain(readers);
              }
            });
  }

  private static void end(Loan loan) {
    loan.end();
    loan.giveBack(true, LockObserver.NONE);
  }

  /** Each hold is for two: it would ask for whoever comes, and its close would not return. */
  @Test
  void p6_someoneGetsIn_withoutAWriterThatAsksForReadersForEver() {
    Loan writer = requests(Mode.EXCLUSIVE).tryAcquire().orElseThrow();
    for (int i = 0; i < READERS; i++) {
      readAgain(requests(Mode.SHARED));
    }

    end(writer);

    assertThat(reads).isLessThan(MOST_READS);
    int before = reads;
    atWorkers.remove().run();
    assertThat(reads).as("workers go on").isGreaterThan(before);
    enough = true;
    while (!atWorkers.isEmpty()) {
      atWorkers.remove().run();
    }
    assertThat(engine.isIdle()).isTrue();
  }
}
