package io.pawl;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.SimulatedProcess.Context;
import io.pawl.concurrent.Workers;
import io.pawl.engine.Engine;
import io.pawl.engine.QueueKey;
import io.pawl.engine.Requests;
import io.pawl.memory.MemoryStore;
import io.pawl.options.LockOptions;
import io.pawl.options.PawlOptions;
import io.pawl.spi.Bell;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.LockStore;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the store is asked, in a simulated time without faults, as clients and leases are more. */
class ScaleTest {

  private static final long MILLI = 1_000_000;
  private static final long SECOND = 1_000 * MILLI;
  private static final Duration LEASE = Duration.ofSeconds(30);
  private static final int BATCH = 250;

  private final Random random = new Random(1);
  private final EventQueue queue = new EventQueue(random);
  private final MemoryStore store = new MemoryStore(queue::now);

  private long attempts;
  private long withdrawals;
  private long renewals;
  private long renewed;
  private int grants;

  /** A client whose store answers after 1 ms. */
  private final class Client implements LockStore {

    private final SimulatedProcess process = new SimulatedProcess(queue);
    private final Engine engine;

    Client(String id) {
      Workers workers =
          new Workers(
              task -> process.run(0, Context.WORKER, task),
              task -> process.run(0, Context.WORKER, task),
              task -> process.run(0, Context.USER, task),
              Runnable::run,
              Runnable::run);
      SimulatedTime time = new SimulatedTime(queue, process, random.nextInt(), 1);
      engine = new Engine(this, PawlOptions.defaults(), time, workers, random, id);
    }

    CompletableFuture<Lease> acquire(String lock) {
      QueueKey key = new QueueKey(lock, LockOptions.defaults().lease(LEASE), Mode.EXCLUSIVE);
      return new Requests(engine, key)
          .tryAcquireAsync(Duration.ofDays(1), loan -> new Lease(loan.orElseThrow()));
    }

    /** Holds {@code lock} for 1 ms each time, and comes back at once. */
    void takeTurns(String lock, int turns) {
      if (turns > 0) {
        acquire(lock)
            .thenAccept(
                lease -> {
                  grants++;
                  process.run(
                      MILLI,
                      Context.USER,
                      () -> {
                        lease.closeAsync();
                        takeTurns(lock, turns - 1);
                      });
                });
      }
    }

    private <T> CompletionStage<T> afterATrip(Supplier<CompletionStage<T>> verb) {
      CompletableFuture<T> answer = new CompletableFuture<>();
      queue.after(
          MILLI / 2,
          () ->
              verb.get()
                  .thenAccept(
                      said -> process.run(MILLI / 2, Context.STORE, () -> answer.complete(said))));
      return answer;
    }

    @Override
    public CompletionStage<Standing> attempt(Claim claim, Bell bell) {
      attempts++;
      Bell far = standing -> process.run(MILLI / 2, Context.STORE, () -> bell.ring(standing));
      return afterATrip(() -> store.attempt(claim, far));
    }

    @Override
    public CompletionStage<Map<ClaimId, Standing>> renew(Collection<Claim> claims) {
      renewals++;
      renewed += claims.size();
      return afterATrip(() -> store.renew(claims));
    }

    @Override
    public CompletionStage<Void> withdraw(Claim claim) {
      withdrawals++;
      return afterATrip(() -> store.withdraw(claim));
    }

    @Override
    public int renewBatch() {
      return BATCH;
    }

    @Override
    public String describe() {
      return "simulation";
    }

    @Override
    public void close() {}
  }

  private void runUntil(long end) {
    while (queue.step(end)) {
      // the next
    }
  }

  /** Whoever waits asks after his place now and then, so that waiting costs by its time alone. */
  @ParameterizedTest
  @ValueSource(ints = {2, 20, 100, 500})
  void aGrantTakesAnAttemptAndAWithdrawalHoweverManyClientsWait(int clients) {
    int turns = 10;
    for (int i = 0; i < clients; i++) {
      new Client("c" + i).takeTurns("lock", turns);
    }

    runUntil(100 * SECOND);

    assertThat(grants).isEqualTo(clients * turns);
    assertThat(attempts).isEqualTo(grants);
    assertThat(withdrawals).isEqualTo(grants);
    long secondsWaited = grants * clients * 3 / 1_000; // a grant takes a hold and two half trips
    assertThat(renewed).isLessThanOrEqualTo(secondsWaited);
  }

  @ParameterizedTest
  @ValueSource(ints = {1_000, 30_000})
  void aHeldLeaseIsRenewedOnceInAPeriodInFullBatchesHoweverManyThereAre(int leases) {
    Client client = new Client("c");
    long takenWithin = 5 * SECOND;
    CompletableFuture<?>[] taken = new CompletableFuture<?>[leases];
    for (int i = 0; i < leases; i++) {
      String lock = "lock-" + i;
      int number = i;
      queue.at(takenWithin / leases * i, () -> taken[number] = client.acquire(lock));
    }
    runUntil(takenWithin + SECOND);
    assertThat(taken).allMatch(CompletableFuture::isDone);
    renewals = 0;
    renewed = 0;

    int periods = 6;
    runUntil(takenWithin + SECOND + periods * LEASE.toNanos() / 3);

    assertThat(renewed).isBetween((long) leases * periods, (long) leases * (periods + 1));
    assertThat(renewals).as("full batches").isLessThanOrEqualTo(renewed * 21 / 20 / BATCH);
  }
}
