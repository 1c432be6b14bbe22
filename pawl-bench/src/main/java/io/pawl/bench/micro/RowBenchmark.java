package io.pawl.bench.micro;

import io.pawl.bench.contest.Folders;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Holder;
import io.pawl.spi.Inspectable;
import io.pawl.spi.LockStore;
import io.pawl.spi.Mode;
import io.pawl.spi.StoreUrl;
import io.pawl.spi.Stores;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** A lock's row, read from SQLite and parsed. */
@State(Scope.Benchmark)
@BenchmarkMode(org.openjdk.jmh.annotations.Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class RowBenchmark {

  private static final String LOCK = "lock";

  /** Claims in the row: the holder and those who wait. */
  @Param({"1", "10"})
  public int claims;

  private final Path folder = Folders.create(Path.of(System.getProperty("java.io.tmpdir")), "row");
  private final LockStore store =
      Stores.open(StoreUrl.parse("sqlite:" + folder.resolve("locks.db")));

  @Setup
  public void fill() {
    for (int number = 0; number < claims; number++) {
      ClaimId id = new ClaimId("1y2p0ij32e8e7xk1ad", number);
      Holder holder = new Holder("host.example", 4711, "worker-" + number, "shop", "");
      Claim claim =
          new Claim(
              LOCK,
              id,
              Mode.EXCLUSIVE,
              Duration.ofDays(1),
              Duration.ZERO,
              true,
              1,
              0,
              false,
              holder);
      store.attempt(claim, standing -> {}).toCompletableFuture().join();
    }
  }

  @TearDown
  public void close() {
    store.close();
    Folders.delete(folder);
  }

  @Benchmark
  public Optional<Inspectable.LockView> show() {
    return ((Inspectable) store).show(LOCK).toCompletableFuture().join();
  }
}
