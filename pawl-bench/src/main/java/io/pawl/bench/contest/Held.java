package io.pawl.bench.contest;

import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.bench.BenchException;
import io.pawl.bench.rival.CuratorLocks;
import io.pawl.bench.rival.JetcdLocks;
import io.pawl.bench.rival.PawlRival;
import io.pawl.bench.rival.RedissonLocks;
import io.pawl.options.LockOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Many locks that one JVM holds for long, each with a lease of 30 s that its client renews. */
public abstract class Held implements AutoCloseable {

  public static final String PAWL = PawlRival.PASSING;
  public static final String REDISSON = RedissonLocks.Kind.PLAIN.title;

  public static final String CURATOR = CuratorLocks.NAME;
  public static final String JETCD = JetcdLocks.NAME;

  /** What the names of all locks begin with. */
  public static final String NAMES = "held-";

  /** Of Pawl's leases; for a try, since what one server carries grows with it. */
  static final int LEASE_SECONDS = Integer.getInteger("pawl.bench.lease", 30);

  /** For a try: fewer leave the server more time for renewals. */
  private static final int AT_ONCE = Integer.getInteger("pawl.bench.at-once", 256);

  static Held connect(String side, String address, int locks) {
    if (side.equals(PAWL)) {
      return new OfPawl(Pawl.connect(address), locks);
    }
    if (side.equals(REDISSON)) {
      Config config = new Config();
      config.useSingleServer().setAddress(address);
      return new OfRedisson(Redisson.create(config), locks);
    }
    if (side.equals(CURATOR)) {
      return new HeldByCurator(address, locks);
    }
    if (side.equals(JETCD)) {
      return new HeldByJetcd(address, locks);
    }
    throw new IllegalArgumentException("nobody is called '" + side + "'");
  }

  abstract void take() throws InterruptedException;

  /** Leases that the client has told us are lost; not a number where it tells nobody. */
  abstract double lost();

  /** Locks that are not ours any more. */
  abstract int invalid() throws InterruptedException;

  /** How long ago the lock that waits longest was renewed; not a number where nobody knows. */
  abstract double renewalAgeSeconds();

  abstract void release() throws InterruptedException;

  @Override
  public abstract void close();

  /** Starts {@code count} operations, {@link #AT_ONCE} at a time, and returns when all are done. */
  static void each(int count, IntFunction<CompletionStage<?>> operation)
      throws InterruptedException {
    Semaphore permits = new Semaphore(AT_ONCE);
    AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    for (int i = 0; i < count && failure.get() == null; i++) {
      permits.acquire();
      operation
          .apply(i)
          .whenComplete(
              (done, error) -> {
                if (error != null) {
                  failure.compareAndSet(null, error);
                }
                permits.release();
              });
    }
    permits.acquire(AT_ONCE);
    Throwable failed = failure.get();
    if (failed != null) {
      throw new BenchException("an operation failed: " + failed, failed);
    }
  }

  static String name(int lock) {
    return NAMES + lock;
  }

  private static final class OfPawl extends Held {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Duration LEASE = Duration.ofSeconds(LEASE_SECONDS);

    private final Pawl pawl;
    private final Lease[] leases;
    private final AtomicLong lost = new AtomicLong();

    OfPawl(Pawl pawl, int locks) {
      this.pawl = pawl;
      this.leases = new Lease[locks];
    }

    @Override
    void take() throws InterruptedException {
      each(
          leases.length,
          i ->
              pawl.lock(name(i), LockOptions.defaults().lease(LEASE))
                  .tryAcquireAsync(PATIENCE)
                  .thenAccept(found -> keep(i, found)));
    }

    private void keep(int i, Optional<Lease> found) {
      Lease lease = found.orElseThrow(() -> new BenchException(name(i) + " was not free"));
      lease.onLost(lost::incrementAndGet);
      leases[i] = lease;
    }

    @Override
    double lost() {
      return lost.get();
    }

    @Override
    int invalid() {
      int invalid = 0;
      for (Lease lease : leases) {
        invalid += lease.isValid() ? 0 : 1;
      }
      return invalid;
    }

    @Override
    double renewalAgeSeconds() {
      long least = Long.MAX_VALUE;
      for (Lease lease : leases) {
        least = Math.min(least, lease.remaining().toNanos());
      }
      return (LEASE.toNanos() - least) / 1e9;
    }

    @Override
    void release() throws InterruptedException {
      each(leases.length, i -> leases[i].closeAsync());
    }

    @Override
    public void close() {
      pawl.close();
    }
  }

  /** Under its watchdog, whose defaults are a lease of 30 s as well, renewed every 10 s. */
  private static final class OfRedisson extends Held {

    private static final long OWNER = 1;

    private final RedissonClient redisson;
    private final List<RLock> locks = new ArrayList<>();

    OfRedisson(RedissonClient redisson, int locks) {
      this.redisson = redisson;
      for (int i = 0; i < locks; i++) {
        this.locks.add(redisson.getLock(name(i)));
      }
    }

    @Override
    void take() throws InterruptedException {
      each(locks.size(), i -> locks.get(i).lockAsync(OWNER));
    }

    @Override
    double lost() {
      return Double.NaN;
    }

    @Override
    int invalid() throws InterruptedException {
      AtomicLong invalid = new AtomicLong();
      each(
          locks.size(),
          i -> {
            CompletableFuture<Boolean> held =
                locks.get(i).isHeldByThreadAsync(OWNER).toCompletableFuture();
            return held.thenAccept(ours -> invalid.addAndGet(ours ? 0 : 1));
          });
      return (int) invalid.get();
    }

    @Override
    double renewalAgeSeconds() {
      return Double.NaN;
    }

    @Override
    void release() throws InterruptedException {
      each(locks.size(), i -> locks.get(i).unlockAsync(OWNER));
    }

    @Override
    public void close() {
      redisson.shutdown();
    }
  }
}
