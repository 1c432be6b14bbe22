package io.pawl;

import static org.jetbrains.lincheck.datastructures.ManagedStrategyGuaranteeKt.forClasses;

import io.pawl.concurrent.Time;
import io.pawl.concurrent.Workers;
import io.pawl.engine.Engine;
import io.pawl.engine.LocalQueue;
import io.pawl.memory.MemoryStore;
import io.pawl.options.PawlOptions;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.jetbrains.kotlinx.lincheck.Actor;
import org.jetbrains.kotlinx.lincheck.execution.ExecutionScenario;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;

/**
 * What the tests of the model checker share: an engine on a store in memory, all on the threads
 * that the checker interleaves, and how much it tries.
 */
final class Interleavings {

  /** Lincheck transforms classes while it counts: on a busy machine its own 10 s are too few. */
  private static final long TIMEOUT_MILLIS = 600_000;

  private static final int SCENARIOS = Integer.getInteger("pawl.lincheck.scenarios", 3);
  private static final int INVOCATIONS = Integer.getInteger("pawl.lincheck.invocations", 30);

  private static final String[] BESIDE_THE_POINT = {
    "io.pawl.spi.rule.GrantRule",
    "io.pawl.spi.rule.LockState",
    "io.pawl.spi.LockName",
    "io.pawl.spi.Claim",
    "io.pawl.spi.ClaimId",
    "io.pawl.spi.Holder",
    "io.pawl.spi.Kind",
    "io.pawl.spi.Mode",
    "java.time.Duration"
  };

  private Interleavings() {}

  static Engine engine(TickingTime time) {
    return new Engine(
        new MemoryStore(time::now),
        PawlOptions.defaults(),
        time,
        Workers.on(Runnable::run, Runnable::run),
        new Random(0),
        "client");
  }

  /** Runs pairs of operations of {@code test} on two threads, switched wherever they meet. */
  static void check(Class<?> test) {
    options(SCENARIOS).check(test);
  }

  /** As {@link #check(Class)}, with these pairs, as in {@code "acquire close"}. */
  static void check(Class<?> test, String... pairs) {
    ModelCheckingOptions options = options(0);
    for (String pair : pairs) {
      List<List<Actor>> threads =
          Stream.of(pair.split(" ")).map(operation -> List.of(actor(test, operation))).toList();
      options.addCustomScenario(new ExecutionScenario(List.of(), threads, List.of(), null));
    }
    options.check(test);
  }

  private static Actor actor(Class<?> test, String operation) {
    try {
      return new Actor(test.getMethod(operation), List.of());
    } catch (NoSuchMethodException e) {
      throw new IllegalArgumentException(e);
    }
  }

  private static ModelCheckingOptions options(int scenarios) {
    return new ModelCheckingOptions()
        .threads(2)
        .actorsPerThread(1)
        .actorsBefore(0)
        .actorsAfter(0)
        .iterations(scenarios)
        .invocationsPerIteration(INVOCATIONS)
        .minimizeFailedScenario(false)
        .invocationTimeout$lincheck(TIMEOUT_MILLIS)
        .addGuarantee(forClasses(BESIDE_THE_POINT).allMethods().ignore());
  }

  /** Every look at the clock costs a fifth of a slice; nothing happens later by itself. */
  static final class TickingTime implements Time {
    private final AtomicLong nanos = new AtomicLong();

    /** As the store's clock has it, which costs nothing. */
    long now() {
      return nanos.get();
    }

    void pass(long more) {
      nanos.addAndGet(more);
    }

    @Override
    public long nanos() {
      return nanos.addAndGet(LocalQueue.SLICE_NANOS / 5);
    }

    @Override
    public Pending after(long delayNanos, Runnable task) {
      return () -> {};
    }
  }
}
