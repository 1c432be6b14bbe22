package io.pawl;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Test;

/**
 * The engine in simulated worlds: every promise holds in each. {@code -Dpawl.sim.seed=n} replays
 * one world, {@code -Dpawl.sim.seeds=n} runs so many random ones.
 */
class EngineSimulationTest {

  private static final int FIXED_SEEDS = 8_000;
  private static final int RANDOM_SEEDS = 500;

  @Test
  void everyPromiseHoldsInTheFixedWorlds() {
    Long only = Long.getLong("pawl.sim.seed");
    int[] next = {0};
    runAll(only == null ? FIXED_SEEDS : 1, () -> only == null ? next[0]++ : only);
  }

  @Test
  void everyPromiseHoldsInRandomWorlds() {
    runAll(Integer.getInteger("pawl.sim.seeds", RANDOM_SEEDS), new SplittableRandom()::nextLong);
  }

  @Test
  void aSeedReplaysExactly() {
    for (long seed = 0; seed < 200; seed++) {
      assertThat(Simulation.run(seed)).as("seed %d", seed).isEqualTo(Simulation.run(seed));
    }
  }

  private static void runAll(int worlds, LongSupplier seeds) {
    long began = System.nanoTime();
    long events = 0;
    long leases = 0;
    long losses = 0;
    for (int i = 0; i < worlds; i++) {
      long seed = seeds.getAsLong();
      Simulation.Outcome outcome = Simulation.run(seed);
      assertThat(outcome.violation())
          .as("replay with -Dpawl.sim.seed=%d, hash %d", seed, outcome.traceHash())
          .isNull();
      events += outcome.events();
      leases += outcome.leases();
      losses += outcome.losses();
    }
    System.out.printf(
        "%d worlds, %d events, %d leases, %d losses in %d ms%n",
        worlds, events, leases, losses, (System.nanoTime() - began) / 1_000_000);
    assertThat(leases).isGreaterThanOrEqualTo(worlds / 2);
  }
}
