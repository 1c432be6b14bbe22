package io.pawl.bench.micro;

import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Holder;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import io.pawl.spi.rule.GrantRule;
import io.pawl.spi.rule.LockState;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** One claim through the grant rule, with nobody or many in the queue before it. */
@State(Scope.Benchmark)
@BenchmarkMode(org.openjdk.jmh.annotations.Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class GrantRuleBenchmark {

  private static final Holder HOLDER = new Holder("host", 1, "thread", "", "");

  /** Claims that hold or wait already. */
  @Param({"0", "100"})
  public int others;

  private LockState state = new LockState("lock", 0);
  private final Claim claim = claim(0);

  private static Claim claim(int number) {
    return new Claim(
        "lock",
        new ClaimId("client", number),
        Mode.EXCLUSIVE,
        Duration.ofSeconds(30),
        Duration.ZERO,
        true,
        1,
        0,
        false,
        HOLDER);
  }

  @Setup
  public void fillTheLine() {
    state = new LockState("lock", 0);
    for (int number = 1; number <= others; number++) {
      GrantRule.attempt(state, claim(number), 0);
    }
  }

  @Benchmark
  public Standing attemptAndWithdraw() {
    Standing standing = GrantRule.attempt(state, claim, 1);
    GrantRule.withdraw(state, claim, 1);
    return standing;
  }
}
