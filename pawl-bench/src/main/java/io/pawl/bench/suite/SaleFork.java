package io.pawl.bench.suite;

import io.pawl.Counter;
import io.pawl.Pawl;
import io.pawl.composite.GateStore;
import io.pawl.spi.LockStore;
import io.pawl.spi.StoreUrl;
import io.pawl.spi.Stores;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/**
 * A shop of {@link SaleContest}. It warms up on another counter and says {@code ready}; after a
 * line its threads try to take one each time, and it says {@code sold}: how many were sold, the
 * milliseconds until the last of these and until the last try, and how often the truth was asked.
 */
final class SaleFork {

  static final String COUNTER = "sale";
  static final String WARM_UP = "warm-up";

  private final Pawl pawl;
  private final CountedTruth truth;
  private final int threads;
  private final int tries;

  private SaleFork(Pawl pawl, CountedTruth truth, int threads, int tries) {
    this.pawl = pawl;
    this.truth = truth;
    this.threads = threads;
    this.tries = tries;
  }

  /**
   * @param arguments the truth's address, threads, tries of each, milliseconds to warm up, and the
   *     gate's address unless there is none
   */
  public static void main(String[] arguments) {
    int status = 0;
    String gateUrl = arguments.length > 4 ? arguments[4] : null;
    try (LockStore gate = gateUrl == null ? null : open(gateUrl);
        CountedTruth truth = new CountedTruth(open(arguments[0]), COUNTER);
        Pawl pawl = Pawl.over(before(gate, truth))) {
      int threads = Integer.parseInt(arguments[1]);
      int tries = Integer.parseInt(arguments[2]);
      new SaleFork(pawl, truth, threads, tries).run(Long.parseLong(arguments[3]));
    } catch (IOException | InterruptedException | ExecutionException | RuntimeException e) {
      e.printStackTrace();
      status = 1;
    }
    System.exit(status);
  }

  private static LockStore open(String url) {
    return Stores.open(StoreUrl.parse(url));
  }

  /** Ends with the process. */
  private static LockStore before(@Nullable LockStore gate, LockStore truth) {
    return gate == null ? truth : GateStore.over(gate, truth);
  }

  private void run(long warmUpMillis) throws IOException, InterruptedException, ExecutionException {
    ExecutorService sellers = Executors.newFixedThreadPool(threads);
    List<Future<long[]>> sold = new ArrayList<>();
    CountDownLatch warm = new CountDownLatch(threads);
    CountDownLatch open = new CountDownLatch(1);
    for (int seller = 0; seller < threads; seller++) {
      sold.add(
          sellers.submit(
              () -> {
                warmUp(warmUpMillis);
                warm.countDown();
                open.await();
                return sell();
              }));
    }
    warm.await();
    System.out.println("ready");
    new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8)).readLine();
    long askedBefore = truth.asked();
    long from = System.nanoTime();
    open.countDown();
    long all = 0;
    long last = from;
    for (Future<long[]> one : sold) {
      all += one.get()[0];
      last = Math.max(last, one.get()[1]);
    }
    double millis = (System.nanoTime() - from) / 1e6;
    long asked = truth.asked() - askedBefore;
    System.out.println("sold " + all + " " + (last - from) / 1e6 + " " + millis + " " + asked);
    sellers.shutdown();
  }

  private void warmUp(long millis) {
    Counter counter = pawl.counter(WARM_UP);
    long until = System.nanoTime() + millis * 1_000_000;
    while (System.nanoTime() - until < 0) {
      counter.tryTake(1);
    }
  }

  /** How many this thread sold, and when the last of them. */
  private long[] sell() {
    Counter counter = pawl.counter(COUNTER);
    long sold = 0;
    long last = System.nanoTime();
    for (int i = 0; i < tries; i++) {
      if (counter.tryTake(1).isApplied()) {
        sold++;
        last = System.nanoTime();
      }
    }
    return new long[] {sold, last};
  }
}
