package io.pawl.bench.contest;

import java.util.OptionalLong;

/**
 * What a store has done so far, or between two looks at it.
 *
 * @param operations that it served
 * @param cpuNanos processor time of its processes
 */
record Usage(OptionalLong operations, OptionalLong cpuNanos) {

  static Usage of(ContestSuite.Ground ground) {
    return new Usage(ground.operations(), ground.cpuNanos());
  }

  Usage since(Usage before) {
    return new Usage(less(operations, before.operations), less(cpuNanos, before.cpuNanos));
  }

  private static OptionalLong less(OptionalLong now, OptionalLong before) {
    return now.isPresent() && before.isPresent()
        ? OptionalLong.of(now.getAsLong() - before.getAsLong())
        : OptionalLong.empty();
  }
}
