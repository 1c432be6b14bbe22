package io.pawl.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.memory.MemoryStore;
import io.pawl.options.LockOptions;
import io.pawl.options.PawlOptions;
import io.pawl.spi.LockStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Bounds that docs/GUARANTEES.md gives in numbers. */
class PromisedNumbersTest {

  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final PawlOptions OPTIONS = PawlOptions.defaults().releaseAtShutdown(false);

  @Test
  void isValidWaitsForCallbacksForASecondAndNoLonger() throws Exception {
    MemoryStore store = new MemoryStore();
    CompletableFuture<Void> called = new CompletableFuture<>();
    CompletableFuture<Void> returns = new CompletableFuture<>();
    try (Pawl pawl = Pawl.over(store, OPTIONS)) {
      Lease lease = pawl.lock("lock").acquire();
      lease.onLost(
          () -> {
            called.complete(null);
            returns.join();
          });
      store.evict("lock", lease.token());
      lease.extendAsync(Duration.ofSeconds(1));
      called.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
      long asked = System.nanoTime();

      assertThat(CompletableFuture.supplyAsync(lease::isValid))
          .succeedsWithin(PATIENCE)
          .isEqualTo(false);

      assertThat(System.nanoTime() - asked).isGreaterThanOrEqualTo(Event.LONGEST_WAIT_NANOS);
      assertThat(Duration.ofNanos(Event.LONGEST_WAIT_NANOS)).isEqualTo(Duration.ofSeconds(1));
      returns.complete(null);
    }
  }

  @Test
  void closingWaitsForAStoreForFiveSecondsAndNoLonger() throws Exception {
    LockStore silent =
        Engines.memory(
            (verb, usual) ->
                verb.equals("withdraw") ? new CompletableFuture<Void>() : usual.call());
    Pawl pawl = Pawl.over(silent, OPTIONS);
    pawl.lock("lock", LockOptions.defaults().releaseInBackground()).acquire().close();
    long asked = System.nanoTime();

    assertThat(CompletableFuture.runAsync(pawl::close)).succeedsWithin(PATIENCE);

    assertThat(System.nanoTime() - asked)
        .isGreaterThanOrEqualTo(Lifecycle.CLOSE_PATIENCE.toNanos());
    assertThat(Lifecycle.CLOSE_PATIENCE).isEqualTo(Duration.ofSeconds(5));
  }

  /** However many wait: a thread that the driver does not let go is none of theirs. */
  @Test
  void sixteenWorkersAskAStoreThatBlocksForThoseWhoseWaitIsBounded() {
    Set<Thread> asking = ConcurrentHashMap.newKeySet();
    CompletableFuture<Void> answers = new CompletableFuture<>();
    LockStore blocking =
        Engines.memory(
            (verb, usual) ->
                switch (verb) {
                  case "blocks" -> true;
                  case "answerTime" -> PATIENCE;
                  case "attempt" -> {
                    asking.add(Thread.currentThread());
                    answers.join();
                    yield usual.call();
                  }
                  default -> usual.call();
                });
    List<Thread> callers = new ArrayList<>();
    List<CompletableFuture<Boolean>> granted = new ArrayList<>();
    try (Pawl pawl = Pawl.over(blocking, OPTIONS)) {
      for (int i = 0; i < 40; i++) {
        String lock = "lock " + i;
        CompletableFuture<Boolean> answer = new CompletableFuture<>();
        granted.add(answer);
        Thread caller =
            new Thread(
                () -> {
                  try {
                    answer.complete(pawl.lock(lock).tryAcquire(PATIENCE).isPresent());
                  } catch (Exception e) {
                    answer.completeExceptionally(e);
                  }
                });
        callers.add(caller);
        caller.start();
      }
      Awaitility.await().atMost(PATIENCE).until(() -> asking.size() >= 16);
      Awaitility.await()
          .atMost(PATIENCE)
          .until(
              () -> callers.stream().allMatch(it -> it.getState() == Thread.State.TIMED_WAITING));

      answers.complete(null);

      assertThat(granted).allSatisfy(it -> assertThat(it).succeedsWithin(PATIENCE).isEqualTo(true));
      assertThat(asking).hasSize(16).doesNotContainAnyElementsOf(callers);
      pawl.close(Duration.ZERO);
    }
  }
}
