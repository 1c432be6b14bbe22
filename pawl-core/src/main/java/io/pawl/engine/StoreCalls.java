package io.pawl.engine;

import io.pawl.concurrent.Time;
import io.pawl.error.StoreException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.spi.LockStore;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** How the engine calls a store, and how it goes on after a failure. */
public final class StoreCalls {

  private static final Logger log = LoggerFactory.getLogger(StoreCalls.class);

  private static final long FIRST_PAUSE_NANOS = 20_000_000;
  private static final long LONGEST_PAUSE_NANOS = 1_000_000_000;

  private StoreCalls() {}

  /**
   * What a store throws, it answers: an {@link Error} too, since a claim whose question was neither
   * answered nor failed would stand in the way of all others of its queue.
   */
  public static <T> CompletionStage<T> call(Supplier<CompletionStage<T>> verb) {
    try {
      return verb.get();
    } catch (RuntimeException | Error e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  /**
   * Has the store run {@code calls} by one of its ways to do so. Should that fail before they are
   * begun, they are run without: whoever waits for them would wait for ever.
   */
  static void run(Consumer<Runnable> way, Runnable calls) {
    AtomicBoolean begun = new AtomicBoolean();
    try {
      way.accept(
          () -> {
            begun.set(true);
            calls.run();
          });
    } catch (RuntimeException | Error e) {
      log.error("the store failed to run its calls in a way of its own", e);
      if (!begun.get()) {
        calls.run();
      }
    }
  }

  /**
   * The failure as a {@link StoreException}, whatever it was: its cause, where the store threw it.
   *
   * @param what the lock or counter that was asked for
   */
  public static StoreException asStoreException(
      String what, LockStore store, @Nullable Throwable error) {
    Throwable cause = error instanceof CompletionException ? error.getCause() : error;
    if (cause instanceof StoreException known) {
      return known;
    }
    return new StoreException(
        what + ": " + store.describe() + " failed unexpectedly: " + cause, cause);
  }

  /**
   * Runs {@code leave} once the client's patience with what was asked for at {@code askedAt} is
   * over, and the time that an answer may take, unless {@code answer} is complete by then. A store
   * may fail late, or have others in line before us.
   */
  public static void endInTime(
      Engine engine, long askedAt, CompletableFuture<?> answer, Runnable leave) {
    if (!answer.isDone()) {
      long overAt = askedAt + engine.patienceNanos() + engine.graceNanos();
      Time.Pending bound = engine.time().after(Math.max(0, overAt - engine.time().nanos()), leave);
      answer.whenComplete((value, error) -> bound.cancel());
    }
  }

  /**
   * A store that was left without an answer.
   *
   * @param what the lock or counter that was asked for
   */
  public static StoreUnavailableException silent(String what, LockStore store) {
    return new StoreUnavailableException(what + ": " + store.describe() + " has not answered");
  }

  /**
   * The pause before trying again: 20 ms, doubling up to 1 s, less up to a tenth.
   *
   * @param failures in a row, at least 1
   */
  public static long pauseNanos(int failures, RandomGenerator random) {
    int doublings = Math.min(failures - 1, 16);
    long pause = Math.min(FIRST_PAUSE_NANOS << doublings, LONGEST_PAUSE_NANOS);
    return (long) (pause * (0.9 + 0.1 * random.nextDouble()));
  }
}
