package io.pawl.cli.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.cli.command.Output;
import io.pawl.error.StoreUnavailableException;
import io.pawl.memory.MemoryStore;
import io.pawl.spi.Bell;
import io.pawl.spi.Claim;
import io.pawl.spi.LockStore;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** What {@code --wait} limits: a store that is away, and then a lock that is busy. */
class PatienceTest {

  private static final Duration WAIT = Duration.ofMillis(300);

  private final AtomicLong nanos = new AtomicLong();
  private final MemoryStore store = new MemoryStore();

  /** A store that tells whether it was asked for a place in the queue. */
  private static final class Listening extends WrappedStore {

    private final Queue<Claim> asked;

    Listening(LockStore store, Queue<Claim> asked) {
      super(store);
      this.asked = asked;
    }

    @Override
    public CompletionStage<Standing> attempt(Claim claim, Bell bell) {
      asked.add(claim);
      return super.attempt(claim, bell);
    }
  }

  private Run run(Supplier<LockStore> opening) {
    return run(opening, new Signals(Thread.currentThread()));
  }

  private Run run(Supplier<LockStore> opening, Signals signals) {
    return run(opening, signals, WAIT);
  }

  private Run run(Supplier<LockStore> opening, Signals signals, Duration wait) {
    return run(opening, signals, wait, nanos::get);
  }

  private static Run run(
      Supplier<LockStore> opening, Signals signals, Duration wait, LongSupplier nanos) {
    RunOptions options =
        new RunOptions(
            "x",
            Mode.EXCLUSIVE,
            List.of("true"),
            false,
            wait,
            false,
            Duration.ofSeconds(30),
            Duration.ZERO,
            Duration.ofDays(1),
            Duration.ofSeconds(5),
            OnLost.TERM,
            "",
            false);
    return new Run(options, opening, Map.of(), Output.ofThisProcess(), nanos, signals);
  }

  @Test
  void whatWasWaitedForTheStoreIsNotWaitedForTheLockOnceMore() throws Exception {
    Queue<Claim> asked = new ConcurrentLinkedQueue<>();
    AtomicLong tries = new AtomicLong();
    Run run =
        run(
            () -> {
              if (tries.incrementAndGet() == 1) {
                nanos.addAndGet(WAIT.plusSeconds(1).toNanos());
                throw new StoreUnavailableException("is being started", null);
              }
              return new Listening(store, asked);
            });
    try (Pawl holder = Pawl.over(store);
        Lease held = holder.lock("x").acquire();
        LockStore opened = run.open();
        Pawl pawl = Pawl.over(opened)) {
      assertThat(run.acquire(pawl)).isEmpty();
      assertThat(asked).noneMatch(Claim::queues);
    }
  }

  /** A JVM that starts is slow; whoever says 200ms means the lock. */
  @Test
  void whatOpeningAStoreTakesIsNotTakenOffTheWaitForTheLock() throws Exception {
    Queue<Claim> asked = new ConcurrentLinkedQueue<>();
    Run run =
        run(
            () -> {
              nanos.addAndGet(WAIT.plusSeconds(1).toNanos());
              return new Listening(store, asked);
            });
    try (Pawl holder = Pawl.over(store);
        Lease held = holder.lock("x").acquire();
        LockStore opened = run.open();
        Pawl pawl = Pawl.over(opened)) {
      assertThat(run.acquire(pawl)).isEmpty();
      assertThat(asked).anyMatch(Claim::queues);
    }
  }

  /** Loses the answer to the first attempt, and hears of its end only after a second one. */
  private static final class Forgetful extends WrappedStore {

    private final AtomicLong attempts = new AtomicLong();

    Forgetful(LockStore store) {
      super(store);
    }

    @Override
    public CompletionStage<Standing> attempt(Claim claim, Bell bell) {
      CompletionStage<Standing> answer = super.attempt(claim, bell);
      return attempts.incrementAndGet() == 1 ? new CompletableFuture<>() : answer;
    }

    @Override
    public CompletionStage<Void> withdraw(Claim claim) {
      return attempts.get() == 1
          ? CompletableFuture.failedFuture(new StoreUnavailableException("is away", null))
          : super.withdraw(claim);
    }
  }

  @Test
  void aStoreThatHasGrantedWhatItDidNotAnswerIsNoOtherHost() throws Exception {
    Forgetful forgetful = new Forgetful(store);
    Run run = run(() -> forgetful, new Signals(Thread.currentThread()), Duration.ZERO);
    try (LockStore opened = run.open();
        Pawl pawl = Pawl.over(opened)) {
      Optional<Lease> lease = run.acquire(pawl);
      assertThat(lease).isPresent();
      lease.get().close();
    }
    assertThat(forgetful.attempts).as("the second had to wait").hasValueGreaterThan(1);
  }

  /** Longer than a question without a wait is waited for. */
  private static final class Slow extends WrappedStore {

    private static final Executor later =
        CompletableFuture.delayedExecutor(700, TimeUnit.MILLISECONDS);

    Slow(LockStore store) {
      super(store);
    }

    @Override
    public CompletionStage<Standing> attempt(Claim claim, Bell bell) {
      return CompletableFuture.supplyAsync(() -> super.attempt(claim, bell), later)
          .thenCompose(answer -> answer);
    }
  }

  @Test
  void aStoreThatAnswersSlowlyGrantsTheLockThoughNobodyWaitsForIt() throws Exception {
    Signals signals = new Signals(Thread.currentThread());
    Run run = run(() -> new Slow(store), signals, Duration.ZERO, System::nanoTime);
    try (LockStore opened = run.open();
        Pawl pawl = Pawl.over(opened)) {
      Optional<Lease> lease = run.acquire(pawl);
      assertThat(lease).isPresent();
      lease.get().close();
    }
  }

  /** As was seen while a store on Redis was opened. */
  private static void signalWhoseInterruptIsLost(Signals signals) {
    signals.received("TERM", 15);
    assertThat(Thread.interrupted()).isTrue();
  }

  @Test
  void aSignalEndsTheWaitForAStoreThoughItsClientLosesTheInterrupt() {
    Signals signals = new Signals(Thread.currentThread());
    Run run =
        run(
            () -> {
              signalWhoseInterruptIsLost(signals);
              nanos.addAndGet(WAIT.plusSeconds(10).toNanos());
              throw new StoreUnavailableException("is away", null);
            },
            signals);

    assertThatThrownBy(run::open).isInstanceOf(InterruptedException.class);
  }

  @Test
  void aSignalEndsTheWaitForALockThoughTheInterruptWasLostBeforeIt() throws Exception {
    Signals signals = new Signals(Thread.currentThread());
    Queue<Claim> asked = new ConcurrentLinkedQueue<>();
    Run run =
        run(
            () -> {
              signalWhoseInterruptIsLost(signals);
              return new Listening(store, asked);
            },
            signals);
    try (LockStore opened = run.open();
        Pawl pawl = Pawl.over(opened)) {
      assertThatThrownBy(() -> run.acquire(pawl)).isInstanceOf(InterruptedException.class);
      assertThat(asked).isEmpty();
    }
  }
}
