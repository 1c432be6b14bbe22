package io.pawl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.pawl.concurrent.SystemTime;
import io.pawl.concurrent.Time;
import io.pawl.concurrent.Workers;
import io.pawl.engine.Engine;
import io.pawl.memory.MemoryStore;
import io.pawl.options.LockOptions;
import io.pawl.options.PawlOptions;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What becomes of a leader's body that fails. */
class CandidacyTest {

  private final PrintStream realError = System.err;
  private final ByteArrayOutputStream log = new ByteArrayOutputStream();
  private final Pawl pawl = Pawl.over(new MemoryStore());

  CandidacyTest() {
    System.setErr(new PrintStream(log, true, StandardCharsets.UTF_8));
  }

  @AfterEach
  void close() {
    System.setErr(realError);
    pawl.close();
  }

  private Candidacy lead(IOException failure) {
    return pawl.election("e")
        .stand(
            "c",
            lease -> {
              try {
                new CountDownLatch(1).await();
              } catch (InterruptedException e) {
                throw failure;
              }
            });
  }

  @Test
  void aBodyThatFailsOnItsWayOutIsToldLikeAnyOther() {
    try (Candidacy candidacy = lead(new IOException("the last page is not saved"))) {
      await().until(() -> candidacy.leadership().isPresent());

      candidacy.resign();

      await().until(() -> log.toString(StandardCharsets.UTF_8).contains("leading 'e' failed"));
    }
    assertThat(log.toString(StandardCharsets.UTF_8)).contains("the last page is not saved");
  }

  @Test
  void aBodyThatFailsWhileItsCandidacyClosesIsToldToo() {
    Candidacy candidacy = lead(new IOException("the last page is not saved"));
    await().until(() -> candidacy.leadership().isPresent());

    candidacy.close();

    assertThat(log.toString(StandardCharsets.UTF_8)).contains("the last page is not saved");
  }

  /** The process stood still as the body returned, so that nobody interrupted it. */
  @Test
  void aBodyThatHasReturnedDoesNotLeadAgainThoughItsLeaseRanOutMeanwhile() {
    AtomicLong stoodStill = new AtomicLong();
    AtomicInteger runs = new AtomicInteger();
    try (SystemTime clock = new SystemTime("timer")) {
      Engine engine = engine(clock, stoodStill);
      Candidacies candidacies = new Candidacies();
      Candidacy candidacy =
          new Election(engine, candidacies, "e", LockOptions.defaults())
              .stand(
                  "c",
                  lease -> {
                    if (runs.getAndIncrement() == 0) {
                      stoodStill.set(lease.remaining().toNanos());
                    }
                  });

      CompletableFuture<Void> ended = CompletableFuture.runAsync(() -> awaitEnd(candidacy));

      assertThat(ended).succeedsWithin(Duration.ofSeconds(30));
      assertThat(runs).hasValue(1);
      candidacies.stop();
      engine.lifecycle().endClosing(0);
    }
  }

  private static void awaitEnd(Candidacy candidacy) {
    try {
      candidacy.awaitEnd();
    } catch (InterruptedException e) {
      throw new AssertionError("nobody interrupts it", e);
    }
  }

  /** Whose clock is ahead of its timers by {@code stoodStill}. */
  private static Engine engine(Time clock, AtomicLong stoodStill) {
    Time ahead =
        new Time() {
          @Override
          public long nanos() {
            return clock.nanos() + stoodStill.get();
          }

          @Override
          public Pending after(long delayNanos, Runnable task) {
            return clock.after(delayNanos, task);
          }
        };
    return new Engine(
        new MemoryStore(),
        PawlOptions.defaults(),
        ahead,
        Workers.on(Runnable::run, Runnable::run),
        new Random(1),
        "client");
  }

  @Test
  void whoClosesWithoutWaitingHearsWhenTheBodyHasEnded() {
    CountDownLatch interrupted = new CountDownLatch(1);
    CountDownLatch ends = new CountDownLatch(1);
    Candidacy candidacy =
        pawl.election("e")
            .stand(
                "c",
                lease -> {
                  try {
                    new CountDownLatch(1).await();
                  } catch (InterruptedException e) {
                    interrupted.countDown();
                    ends.await();
                  }
                });
    await().until(() -> candidacy.leadership().isPresent());

    CompletableFuture<Void> closed = candidacy.closeAsync();
    await().until(() -> interrupted.getCount() == 0);
    candidacy.close(Duration.ZERO);
    assertThat(closed).isNotDone();
    ends.countDown();

    assertThat(closed).succeedsWithin(Duration.ofSeconds(30));
    assertThat(pawl.lock("e").tryAcquire()).isPresent();
  }
}
