package io.pawl.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.concurrent.SystemTime;
import io.pawl.concurrent.Time;
import io.pawl.concurrent.Workers;
import io.pawl.memory.MemoryStore;
import io.pawl.options.LockObserver;
import io.pawl.options.LockOptions;
import io.pawl.options.PawlOptions;
import io.pawl.spi.Mode;
import java.time.Duration;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** A lease is one thread's to close while another one downgrades it. */
class DowngradeRaceTest {

  private static final LockOptions PASSING =
      LockOptions.defaults().localPassing(100, Duration.ofSeconds(1));

  /** Of the thread that downgrades, once: what happens while it stands still. */
  private final ThreadLocal<Runnable> meanwhile = new ThreadLocal<>();

  private final MemoryStore store = new MemoryStore();
  private final Requests writer = requests(new Hooked(), Mode.EXCLUSIVE);
  private final Requests reader = requests(new SystemTime("other"), Mode.SHARED);

  private final class Hooked implements Time {

    private final SystemTime time = new SystemTime("hooked");

    @Override
    public long nanos() {
      long now = time.nanos();
      Runnable hook = meanwhile.get();
      if (hook != null) {
        meanwhile.remove();
        hook.run();
      }
      return now;
    }

    @Override
    public Pending after(long delayNanos, Runnable task) {
      return time.after(delayNanos, task);
    }
  }

  private Requests requests(Time time, Mode mode) {
    Workers workers = Workers.pools("race", null, time);
    Engine engine =
        new Engine(store, PawlOptions.defaults(), time, workers, new Random(1), mode.toString());
    return new Requests(engine, new QueueKey("lock", PASSING, mode));
  }

  @Test
  void aHoldThatWasPassedOnMeanwhileIsNotDowngraded() throws Exception {
    Loan first = writer.acquire();
    CompletableFuture<Loan> second = whoWaits();
    giveBack(first);
    Loan mine = second.join();
    CompletableFuture<Loan> next = whoWaits();

    meanwhile.set(
        () -> {
          CompletableFuture.runAsync(() -> giveBack(mine)).join();
          next.join();
        });
    assertThatThrownBy(() -> mine.downgrade(false)).isInstanceOf(IllegalStateException.class);

    assertThat(next.join().mode()).isEqualTo(Mode.EXCLUSIVE);
    assertThat(next.join().isValid()).isTrue();
    assertThat(reader.tryAcquire()).isEmpty();
    giveBack(next.join());
    Optional<Loan> read = reader.tryAcquire(Duration.ofSeconds(20));
    assertThat(read).isPresent();
  }

  private static void giveBack(Loan loan) {
    loan.end();
    loan.giveBack(true, LockObserver.NONE);
  }

  private CompletableFuture<Loan> whoWaits() {
    CompletableFuture<Loan> granted = new CompletableFuture<>();
    Thread thread = new Thread(() -> granted.complete(writer.acquireUninterruptibly()));
    thread.setDaemon(true);
    thread.start();
    Awaitility.await()
        .until(
            () ->
                thread.getState() == Thread.State.TIMED_WAITING
                    || thread.getState() == Thread.State.WAITING);
    return granted;
  }
}
