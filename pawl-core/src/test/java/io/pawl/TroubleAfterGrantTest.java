package io.pawl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.pawl.concurrent.SystemTime;
import io.pawl.concurrent.Time;
import io.pawl.concurrent.Workers;
import io.pawl.engine.Engine;
import io.pawl.memory.MemoryStore;
import io.pawl.options.LockOptions;
import io.pawl.options.PawlOptions;
import io.pawl.spi.LockStore;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongPredicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** An error between a grant and the body, such as a lack of memory, leaves nothing held. */
class TroubleAfterGrantTest {

  private static final LockOptions OPTIONS = LockOptions.defaults().lease(Duration.ofSeconds(60));

  private final MemoryStore store = new MemoryStore();
  private final Pawl other = Pawl.over(store);
  private final SystemTime time = new SystemTime("timer");
  private final AtomicBoolean failed = new AtomicBoolean();

  @AfterEach
  void close() {
    time.close();
    other.close(Duration.ZERO);
  }

  /** Of a client whose timer fails once, where it is asked for more than 31 s. */
  private Engine engine() {
    return engine(nanos -> nanos > TimeUnit.SECONDS.toNanos(31));
  }

  private Engine engine(LongPredicate fails) {
    Time failing =
        new Time() {
          @Override
          public long nanos() {
            return time.nanos();
          }

          @Override
          public Pending after(long delayNanos, Runnable task) {
            if (fails.test(delayNanos) && !failed.getAndSet(true)) {
              throw new OutOfMemoryError("scripted");
            }
            return time.after(delayNanos, task);
          }
        };
    PawlOptions options = PawlOptions.defaults().patience(Duration.ofSeconds(40));
    return new Engine(
        store, options, failing, Workers.on(Runnable::run, Runnable::run), new Random(1), "client");
  }

  private void assertFree() {
    assertThat(failed).isTrue();
    assertThat(other.lock("lock").tryAcquire()).isPresent();
  }

  @Test
  void ofAJob() {
    ScheduledJob job = new ScheduledJob(engine(), "lock", OPTIONS).maxRun(Duration.ofHours(1));

    assertThatThrownBy(() -> job.run(lease -> {})).isInstanceOf(OutOfMemoryError.class);

    assertFree();
  }

  @Test
  void ofABodyThatEndsWithItsStage() {
    DistributedLock lock = new DistributedLock(engine(), "lock", OPTIONS);

    CompletableFuture<Optional<String>> called =
        lock.callAsync(Duration.ZERO, lease -> CompletableFuture.completedFuture("result"));

    assertThat(called)
        .failsWithin(Duration.ofSeconds(20))
        .withThrowableThat()
        .withCauseInstanceOf(OutOfMemoryError.class);
    assertFree();
  }

  @Test
  void ofAFutureThatNobodyGets() {
    DistributedLock lock = new DistributedLock(engine(), "lock", OPTIONS);

    assertThatThrownBy(() -> lock.tryAcquireAsync(Duration.ofMinutes(1)))
        .isInstanceOf(OutOfMemoryError.class);

    assertFree();
  }

  @Test
  void ofARequestThatWasToStandBehindOthersOfItsClient() throws Exception {
    AtomicBoolean scarce = new AtomicBoolean();
    DistributedSemaphore semaphore =
        new DistributedSemaphore(engine(nanos -> scarce.get()), "permits", 1, OPTIONS);
    Lease held = semaphore.acquire(1);
    scarce.set(true);

    assertThatThrownBy(() -> semaphore.tryAcquire(1, Duration.ofMinutes(1)))
        .isInstanceOf(OutOfMemoryError.class);
    held.close();

    assertThat(failed).isTrue();
    assertThat(other.semaphore("permits", 1).tryAcquire(1)).isPresent();
  }

  /** The way in which the store lets a thread that waits do its work. */
  @Test
  void ofAStoreThatFailsBeforeItIsAsked() throws Exception {
    LockStore failing =
        (LockStore)
            Proxy.newProxyInstance(
                LockStore.class.getClassLoader(),
                new Class<?>[] {LockStore.class},
                (proxy, method, arguments) -> {
                  if (method.getName().equals("awaited") && !failed.getAndSet(true)) {
                    throw new OutOfMemoryError("scripted");
                  }
                  return method.invoke(store, arguments);
                });
    try (Pawl pawl = Pawl.over(failing)) {
      CompletableFuture<Void> cycle =
          CompletableFuture.runAsync(
              () -> pawl.lock("lock", OPTIONS).acquireUninterruptibly().close());

      assertThat(cycle).succeedsWithin(Duration.ofSeconds(20));
      assertFree();
    }
  }

  @Test
  void ofALeader() {
    Candidacies candidacies = new Candidacies();
    Engine engine = engine();
    Election election = new Election(engine, candidacies, "lock", OPTIONS);

    Candidacy candidacy = election.stand("here", lease -> {});

    await().until(failed::get);
    await().until(() -> other.lock("lock").tryAcquire().isPresent());
    assertThat(candidacy.leadership()).isEmpty();
    candidacies.stop();
    engine.lifecycle().endClosing(0);
  }
}
