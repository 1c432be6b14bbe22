package io.pawl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.pawl.concurrent.SystemTime;
import io.pawl.concurrent.Time;
import io.pawl.engine.Engine;
import io.pawl.engine.Engines;
import io.pawl.memory.MemoryStore;
import io.pawl.options.LockOptions;
import io.pawl.options.PawlOptions;
import io.pawl.spi.Bell;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.LockStore;
import io.pawl.spi.Standing;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What becomes of a leader's body that fails. */
class CandidacyTest {

  private final PrintStream realError = System.err;
  private final ByteArrayOutputStream log = new ByteArrayOutputStream();
  private final MemoryStore store = new MemoryStore();
  private final Pawl pawl = Pawl.over(store);

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

  /** Nobody asked it to end, so this is a failure, after which it pauses for 1 s at least. */
  @Test
  void aBodyThatSaysItWasInterruptedByItselfIsToldAndDoesNotRunAgainAtOnce() {
    isToldAndDoesNotRunAgainAtOnce(
        lease -> {
          throw new InterruptedException("of its own");
        });
  }

  @Test
  void aBodyThatFailsAndLeavesItsThreadInterruptedDoesNotRunAgainAtOnceEither() {
    isToldAndDoesNotRunAgainAtOnce(
        lease -> {
          Thread.currentThread().interrupt();
          throw new IllegalStateException("of its own");
        });
  }

  private void isToldAndDoesNotRunAgainAtOnce(LeaseBody<Exception> body) {
    AtomicInteger runs = new AtomicInteger();
    long from = System.nanoTime();
    try (Candidacy candidacy =
        pawl.election("e")
            .stand(
                "c",
                lease -> {
                  runs.incrementAndGet();
                  body.run(lease);
                })) {
      await().until(() -> log.toString(StandardCharsets.UTF_8).contains("of its own"));
      for (int turn = 0; turn < 1_000; turn++) {
        pawl.lock("another").tryAcquire().orElseThrow().close();
      }
      long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - from);
      assertThat(runs).hasValueLessThanOrEqualTo((int) seconds + 1);
    }
  }

  /** It was withdrawn as it was granted the leadership. */
  @Test
  void aLeadershipUnderWhichNothingRanOwesNoShortestHold() {
    AtomicReference<Candidacy> withdrawn = new AtomicReference<>();
    CountDownLatch known = new CountDownLatch(1);
    LockStore withdrawing =
        (LockStore)
            Proxy.newProxyInstance(
                LockStore.class.getClassLoader(),
                new Class<?>[] {LockStore.class},
                (proxy, method, arguments) -> {
                  Object answer = method.invoke(store, arguments);
                  if (method.getName().equals("attempt")) {
                    known.await();
                    withdrawn.get().closeAsync();
                  }
                  return answer;
                });
    try (Pawl own = Pawl.over(withdrawing)) {
      Candidacy candidacy =
          own.election("e", LockOptions.defaults().minHold(Duration.ofHours(1)))
              .stand("c", lease -> {});
      withdrawn.set(candidacy);
      known.countDown();
      awaitEnd(candidacy);
      assertThat(pawl.lock("e").tryAcquire()).isPresent();
    }
  }

  /** The process stood still as the body returned, so that nobody interrupted it. */
  @Test
  void aBodyThatHasReturnedDoesNotLeadAgainThoughItsLeaseRanOutMeanwhile() {
    AtomicLong stoodStill = new AtomicLong();
    AtomicInteger runs = new AtomicInteger();
    try (SystemTime clock = new SystemTime("timer")) {
      Engine engine = engine(store, clock, stoodStill);
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

  /** Whose answers to renewals take 150 ms, as across an ocean. */
  private static final class Far implements LockStore {
    private final LockStore near;
    private final AtomicInteger answers = new AtomicInteger();

    Far(LockStore near) {
      this.near = near;
    }

    @Override
    public CompletionStage<Standing> attempt(Claim claim, Bell bell) {
      return near.attempt(claim, bell);
    }

    @Override
    public CompletionStage<Map<ClaimId, Standing>> renew(Collection<Claim> claims) {
      Executor later = CompletableFuture.delayedExecutor(150, TimeUnit.MILLISECONDS);
      CompletionStage<Map<ClaimId, Standing>> answer =
          near.renew(claims).thenApplyAsync(standings -> standings, later);
      return answer.whenComplete((standings, error) -> answers.incrementAndGet());
    }

    @Override
    public CompletionStage<Void> withdraw(Claim claim) {
      return near.withdraw(claim);
    }

    @Override
    public String describe() {
      return "far";
    }

    @Override
    public void close() {}
  }

  /** What a waiter's question covers of a long lease may be less than its grace. */
  @Test
  void whoWaitedLongLeadsThoughHalfOfItsLeaseIsGrace() {
    LockOptions options = LockOptions.defaults().lease(Duration.ofSeconds(30));
    Far far = new Far(store);
    AtomicLong passed = new AtomicLong();
    CompletableFuture<Duration> told = new CompletableFuture<>();
    try (SystemTime clock = new SystemTime("timer")) {
      Engine engine = engine(far, clock, passed);
      Candidacies candidacies = new Candidacies();
      Lease first = pawl.lock("e", options).tryAcquire().orElseThrow();
      new Election(engine, candidacies, "e", options)
          .grace(Duration.ofSeconds(15))
          .stand(
              "c",
              lease -> {
                boolean stopped = Thread.interrupted();
                told.complete(stopped ? Duration.ZERO : lease.remaining());
              });
      await().until(() -> far.answers.get() > 0);

      passed.set(Duration.ofSeconds(14).toNanos());
      first.close();

      assertThat(told)
          .succeedsWithin(Duration.ofSeconds(30))
          .matches(left -> left.toSeconds() > 15);
      candidacies.stop();
      engine.lifecycle().endClosing(0);
    }
  }

  /** Its renewals go unanswered, and the store hears again when the lease is lost. */
  @Test
  void aLeadershipIsNotGivenBackWhileItsBodyIsWithinItsGrace() throws InterruptedException {
    Duration grace = Duration.ofSeconds(1);
    ScriptedClient client = new ScriptedClient(PawlOptions.defaults());
    client.store().answers.add(CompletableFuture.completedFuture(ScriptedStore.held(1)));
    Candidacies candidacies = new Candidacies();
    CompletableFuture<Thread> leads = new CompletableFuture<>();
    CountDownLatch ends = new CountDownLatch(1);
    Candidacy candidacy =
        new Election(
                client.engine(),
                candidacies,
                "e",
                LockOptions.defaults().lease(Duration.ofSeconds(3)))
            .grace(grace)
            .stand(
                "c",
                lease -> {
                  leads.complete(Thread.currentThread());
                  while (ends.getCount() > 0) {
                    Thread.yield(); // and stays interrupted
                  }
                });
    Thread leader = leads.join();
    while (!leader.isInterrupted()) {
      client.pass(Duration.ofMillis(1));
    }

    client.pass(grace.minusMillis(2));

    assertThat(client.store().withdrawals).isEmpty();
    candidacies.stop();
    ends.countDown();
    candidacy.awaitEnd();
    assertThat(client.store().withdrawals).hasSize(1);
  }

  @Test
  void aBodyThatGoesOnBeyondItsGraceIsWarnedOfWhenItsLeaseIsLost() throws InterruptedException {
    ScriptedClient client = new ScriptedClient(PawlOptions.defaults());
    client.store().answers.add(CompletableFuture.completedFuture(ScriptedStore.held(17)));
    Candidacies candidacies = new Candidacies();
    CompletableFuture<Lease> leads = new CompletableFuture<>();
    CountDownLatch ends = new CountDownLatch(1);
    Candidacy candidacy =
        new Election(client.engine(), candidacies, "e", LockOptions.defaults())
            .stand(
                "c",
                lease -> {
                  leads.complete(lease);
                  while (ends.getCount() > 0) {
                    Thread.yield(); // whatever it is told
                  }
                });
    Lease lease = leads.join();
    while (lease.isValid()) {
      client.pass(Duration.ofMillis(100));
    }

    assertThat(log.toString(StandardCharsets.UTF_8))
        .contains("the leader of 'e' still runs though its lease is lost")
        .contains("token 17");
    candidacies.stop();
    ends.countDown();
    candidacy.awaitEnd();
  }

  /** It takes its time, for which the lease is renewed; then the lease is taken away. */
  @Test
  void aBodyThatResignsIsInterruptedOnceMoreWhenItsLeaseIsLost() {
    CompletableFuture<Long> resigns = new CompletableFuture<>();
    CompletableFuture<Boolean> told = new CompletableFuture<>();
    LockOptions options = LockOptions.defaults().lease(Duration.ofMillis(500));
    try (Candidacy candidacy =
        pawl.election("e", options)
            .stand(
                "c",
                lease -> {
                  if (resigns.isDone()) {
                    return;
                  }
                  try {
                    new CountDownLatch(1).await();
                  } catch (InterruptedException e) {
                    resigns.complete(lease.token());
                  }
                  told.complete(isInterrupted());
                })) {
      await().until(() -> candidacy.leadership().isPresent());
      candidacy.resign();

      pawl.evict("e", resigns.join());

      assertThat(told).succeedsWithin(Duration.ofSeconds(30)).isEqualTo(true);
    }
  }

  /** It took note of the first interrupt, and goes on all the same. */
  @Test
  void aBodyThatWasAskedToResignIsInterruptedOnceMoreWhenItsCandidacyCloses() {
    CompletableFuture<Void> resigns = new CompletableFuture<>();
    CompletableFuture<Boolean> told = new CompletableFuture<>();
    Candidacy candidacy =
        pawl.election("e")
            .stand(
                "c",
                lease -> {
                  if (isInterrupted()) {
                    resigns.complete(null);
                  }
                  told.complete(isInterrupted());
                });
    await().until(() -> candidacy.leadership().isPresent());
    candidacy.resign();
    resigns.join();

    candidacy.closeAsync();

    assertThat(told).succeedsWithin(Duration.ofSeconds(30)).isEqualTo(true);
  }

  /** No interrupt is added to the one that is there, by which the body may end. */
  @Test
  void aLeaderThatResignsWhileItsThreadIsInterruptedAlreadyStandsAgain() {
    AtomicInteger runs = new AtomicInteger();
    CompletableFuture<Candidacy> known = new CompletableFuture<>();
    try (Candidacy candidacy =
        pawl.election("e")
            .stand(
                "c",
                lease -> {
                  if (runs.getAndIncrement() == 0) {
                    Candidacy own = known.join();
                    Thread.currentThread().interrupt();
                    own.resign();
                  }
                })) {
      known.complete(candidacy);

      awaitEnd(candidacy);

      assertThat(runs).hasValue(2);
    }
  }

  @Test
  void aLeaderWhoseHoldIsTakenAwayIsInterrupted() {
    CompletableFuture<Long> leads = new CompletableFuture<>();
    CompletableFuture<Boolean> told = new CompletableFuture<>();
    Candidacy candidacy =
        pawl.election("e", LockOptions.defaults().lease(Duration.ofSeconds(3)))
            .stand(
                "c",
                lease -> {
                  leads.complete(lease.token());
                  told.complete(isInterrupted());
                });

    assertThat(pawl.evict("e", leads.join())).isTrue();

    assertThat(told).succeedsWithin(Duration.ofSeconds(30)).isEqualTo(true);
    candidacy.close();
  }

  private static boolean isInterrupted() {
    try {
      return new CountDownLatch(1).await(20, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      return true;
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
  private static Engine engine(LockStore store, Time clock, AtomicLong stoodStill) {
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
    return Engines.over(store, ahead);
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
