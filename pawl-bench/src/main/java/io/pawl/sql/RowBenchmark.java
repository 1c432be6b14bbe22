package io.pawl.sql;

import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Holder;
import io.pawl.spi.Mode;
import io.pawl.spi.rule.GrantRule;
import io.pawl.spi.rule.LockState;
import io.pawl.sql.lock.Row;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** A lock's row to text and back; here because {@link Row} is this package's own. */
@State(Scope.Benchmark)
@BenchmarkMode(org.openjdk.jmh.annotations.Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class RowBenchmark {

  private static final long NOW = 1_800_000_000_000L;

  /** Claims in the row: the holder and those who wait. */
  @Param({"1", "10"})
  public int claims;

  private LockState state = new LockState("lock", 0);
  private Row row = Row.unknown("lock");

  @Setup
  public void fill() {
    for (int number = 0; number < claims; number++) {
      ClaimId id = new ClaimId("1y2p0ij32e8e7xk1ad", number);
      Holder holder = new Holder("host.example", 4711, "worker-" + number, "shop", "");
      Claim claim =
          new Claim("lock", id, Mode.EXCLUSIVE, Duration.ofSeconds(30), true, 1, 0, false, holder);
      GrantRule.attempt(state, claim, NOW);
    }
    row = Row.of(state);
  }

  @Benchmark
  public Object write() {
    return Row.of(state);
  }

  @Benchmark
  public LockState read() {
    return row.state(NOW);
  }
}
