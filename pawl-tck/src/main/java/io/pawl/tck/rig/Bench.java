package io.pawl.tck.rig;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.Pawl;
import io.pawl.concurrent.DaemonThreads;
import io.pawl.error.StoreUnavailableException;
import io.pawl.options.LockOptions;
import io.pawl.options.PawlOptions;
import io.pawl.spi.Claim;
import io.pawl.spi.LockStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Supplier;
import org.awaitility.Awaitility;

/** What one case works with: clients, lock names, threads. All of it ends with the case. */
public final class Bench {

  /** How long a case waits for what must happen. */
  public static final Duration PATIENCE = Duration.ofSeconds(20);

  /** Longer than any case waits: what is free within {@link #PATIENCE} was given back. */
  public static final Duration LONG_LEASE = Duration.ofSeconds(60);

  public static final LockOptions LONG = LockOptions.defaults().lease(LONG_LEASE);

  private static final AtomicInteger cases = new AtomicInteger();
  private static final String RUN =
      Long.toString(ThreadLocalRandom.current().nextLong(Long.MAX_VALUE), 36);

  private final Supplier<LockStore> stores;
  private final Supplier<Duration> shortLease;
  private final ConcurrentLinkedDeque<AutoCloseable> opened = new ConcurrentLinkedDeque<>();
  private final Function<String, String> naming;
  private final String unique = "tck-" + RUN + "-" + cases.incrementAndGet() + "-";
  private Supplier<Duration> longestLease = () -> Claim.MAX_LEASE;

  public Bench(
      Supplier<LockStore> stores, Supplier<Duration> shortLease, Function<String, String> naming) {
    this.stores = stores;
    this.shortLease = shortLease;
    this.naming = naming;
  }

  /** A name that no other case uses. */
  public String lock(String text) {
    return namespace() + text;
  }

  public String namespace() {
    return naming.apply(unique);
  }

  public Duration shortLease() {
    return shortLease.get();
  }

  /** The longest lease that the store takes. */
  public Duration longestLease() {
    return longestLease.get();
  }

  public void longestLeaseBy(Supplier<Duration> longest) {
    longestLease = longest;
  }

  public LockOptions shortLived() {
    return LockOptions.defaults().lease(shortLease());
  }

  public LockStore store() {
    return keep(stores.get());
  }

  public SeamClient client() {
    return new SeamClient(store());
  }

  /** As patient as {@link FaultyStore#patient}. */
  public FaultyStore faulty() {
    return keep(new FaultyStore(store()).patient());
  }

  /** A client of the service, as patient as {@link FaultyStore#patient}. */
  public Pawl pawl() {
    return pawl(PawlOptions.defaults());
  }

  public Pawl pawl(PawlOptions options) {
    return over(faulty(), options);
  }

  /** A case may end with leases that nobody closes; nobody waits for them. */
  public Pawl keep(Pawl client) {
    opened.push(() -> client.close(Duration.ZERO));
    return client;
  }

  public Pawl over(FaultyStore store) {
    return over(store, PawlOptions.defaults());
  }

  public Pawl over(FaultyStore store, PawlOptions options) {
    return keep(Pawl.over(store, options));
  }

  public <T extends AutoCloseable> T keep(T closeable) {
    opened.push(closeable);
    return closeable;
  }

  /** Something that runs on a thread of its own. */
  public record Running<T>(Thread thread, FutureTask<T> task) {

    /** Its result, within {@link #PATIENCE}; what it threw is thrown as it was. */
    public T result() throws Exception {
      try {
        return task.get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
      } catch (ExecutionException e) {
        if (e.getCause() instanceof Exception cause) {
          throw cause;
        }
        throw new AssertionError(e.getCause());
      }
    }
  }

  public <T> Running<T> start(Callable<T> work) {
    FutureTask<T> task = new FutureTask<>(work);
    Thread thread = DaemonThreads.named("tck-" + cases.get(), task);
    thread.start();
    keep(thread::interrupt);
    return new Running<>(thread, task);
  }

  /** One of the tasks of {@link #parallel}. */
  public interface Numbered {
    void run(int number) throws Exception;
  }

  /** Runs {@code work} for 0 to {@code times - 1} on sixteen threads; throws what one threw. */
  public void parallel(int times, Numbered work) {
    AtomicInteger next = new AtomicInteger();
    List<Running<Boolean>> threads = new ArrayList<>();
    for (int i = 0; i < 16; i++) {
      threads.add(
          start(
              () -> {
                for (int n = next.getAndIncrement(); n < times; n = next.getAndIncrement()) {
                  work.run(n);
                }
                return true;
              }));
    }
    for (Running<Boolean> thread : threads) {
      try {
        thread.task().get(100, TimeUnit.SECONDS);
      } catch (ExecutionException e) {
        throw new AssertionError(e.getCause());
      } catch (InterruptedException | TimeoutException e) {
        throw new AssertionError(e);
      }
    }
  }

  /** A store that is kept from its answer by a busy machine is asked again. */
  public static void eventually(Callable<Boolean> condition) {
    Awaitility.await()
        .atMost(PATIENCE)
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(5))
        .ignoreExceptionsInstanceOf(StoreUnavailableException.class)
        .until(condition);
  }

  /** Returns once {@code duration} has passed since {@code startNanos}. */
  public static void passed(long startNanos, Duration duration) {
    eventually(() -> System.nanoTime() - startNanos >= duration.toNanos());
  }

  /** The store kept a claim as long as it owes, give or take what the engine allows for. */
  public static void assertKeptFor(Duration lease, long sentAtNanos) {
    long owed = (long) (lease.toNanos() * 0.99) - 2_000_000;
    assertThat(System.nanoTime() - sentAtNanos).isGreaterThanOrEqualTo(owed);
  }

  /** Closes the latest first, and all of it though one should fail. */
  public void close() throws Exception {
    Exception failure = null;
    for (AutoCloseable next = opened.poll(); next != null; next = opened.poll()) {
      try {
        next.close();
      } catch (Exception e) {
        failure = e;
      }
    }
    if (failure != null) {
      throw failure;
    }
  }
}
