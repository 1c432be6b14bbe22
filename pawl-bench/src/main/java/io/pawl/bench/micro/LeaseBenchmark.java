package io.pawl.bench.micro;

import io.pawl.DistributedLock;
import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.memory.MemoryStore;
import io.pawl.options.LockOptions;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** What a caller pays to the engine, with a store that costs next to nothing. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class LeaseBenchmark {

  private final Pawl pawl = Pawl.over(new MemoryStore());
  private final DistributedLock free = pawl.lock("free");
  private final DistributedLock strict = pawl.lock("strict", LockOptions.defaults().strictOrder());
  private final DistributedLock busy = pawl.lock("busy");
  private final Lease held = pawl.lock("held").tryAcquire().orElseThrow();

  @Setup
  public void makeBusy() {
    if (busy.tryAcquire().isEmpty()) {
      throw new IllegalStateException("somebody else has it");
    }
  }

  @TearDown
  public void close() {
    pawl.close();
  }

  @Benchmark
  public long acquireAndClose() throws InterruptedException {
    try (Lease lease = free.acquire()) {
      return lease.token();
    }
  }

  @Benchmark
  public long acquireAndCloseInStrictOrder() throws InterruptedException {
    try (Lease lease = strict.acquire()) {
      return lease.token();
    }
  }

  @Benchmark
  public Optional<Lease> tryAcquireOfABusyLock() {
    return busy.tryAcquire();
  }

  @Benchmark
  public boolean isValid() {
    return held.isValid();
  }
}
