package io.pawl.bench.soak;

import io.pawl.Counter;
import io.pawl.Pawl;
import io.pawl.bench.BenchException;
import io.pawl.bench.soak.SoakNotes.Note;
import io.pawl.composite.GateOptions;
import io.pawl.composite.GateStore;
import io.pawl.counter.Change;
import io.pawl.counter.OutcomeUnknownException;
import io.pawl.error.StoreException;
import io.pawl.options.PawlOptions;
import io.pawl.spi.LockStore;
import io.pawl.spi.StoreUrl;
import io.pawl.spi.Stores;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A client of a soak: so many buyers take one after another, and note what they were told, until a
 * line is heard or whoever started this is gone. It ends when each buyer has heard what became of
 * its last take.
 *
 * <p>Half of the buyers that were told nothing ask again under the same id, as people do; the other
 * half leave it to {@link Counter#outcome}. One take in 64 is repeated though it was answered, now
 * and then for a while, since stores do better where no id comes twice.
 */
final class SoakFork {

  static final String GATE = "gate:";

  private static final int REPEATED_ONE_IN = 64;
  private static final int REPEATING = 4_096;
  private static final int REPEATING_ONE_IN = 16;
  private static final int PAUSE_MILLIS = 20;
  private static final int PATIENCE_SECONDS = 60;

  private final SoakNotes notes;
  private final boolean pausesWhenRefused;
  private final List<Counter> counters;
  private final CountDownLatch buyers;
  private final ScheduledExecutorService timer =
      Executors.newSingleThreadScheduledExecutor(
          task -> {
            Thread thread = new Thread(task, "soak-timer");
            thread.setDaemon(true);
            return thread;
          });
  private volatile boolean ending;

  /**
   * @param pausesWhenRefused so that refusals that cost next to nothing are not most of what is
   *     done
   */
  private SoakFork(Pawl pawl, SoakNotes notes, boolean pausesWhenRefused, int buyers) {
    this.notes = notes;
    this.pausesWhenRefused = pausesWhenRefused;
    this.counters = SoakTake.COUNTERS.stream().map(pawl::counter).toList();
    this.buyers = new CountDownLatch(buyers);
  }

  /**
   * What a client is told on its command line.
   *
   * @param folder of the notes
   * @param most takes that it may ask for
   * @param buyers takes under way at a time
   */
  record Order(String address, Path folder, int jvm, int most, int buyers, long patienceMillis) {

    List<String> toArguments() {
      return List.of(
          address,
          folder.toString(),
          Integer.toString(jvm),
          Integer.toString(most),
          Integer.toString(buyers),
          Long.toString(patienceMillis));
    }

    static Order parse(String[] words) {
      return new Order(
          words[0],
          Path.of(words[1]),
          Integer.parseInt(words[2]),
          Integer.parseInt(words[3]),
          Integer.parseInt(words[4]),
          Long.parseLong(words[5]));
    }
  }

  public static void main(String[] arguments) {
    int status = 0;
    Order order = Order.parse(arguments);
    Deque<LockStore> stores = new ArrayDeque<>();
    try (Pawl pawl = connect(order, stores)) {
      SoakNotes notes = SoakNotes.of(order.folder(), order.jvm(), order.most());
      boolean gate = order.address().startsWith(GATE);
      new SoakFork(pawl, notes, gate, order.buyers()).run(order.buyers());
    } catch (IOException | InterruptedException | RuntimeException e) {
      e.printStackTrace();
      status = 1;
    }
    stores.forEach(LockStore::close);
    System.exit(status);
  }

  /** The store may be away just now. */
  private static Pawl connect(Order order, Deque<LockStore> stores) throws InterruptedException {
    PawlOptions options =
        PawlOptions.defaults().patience(Duration.ofMillis(order.patienceMillis()));
    long giveUpAt = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
    while (true) {
      try {
        return order.address().startsWith(GATE)
            ? Pawl.over(gate(order.address(), stores), options)
            : Pawl.connect(order.address(), options);
      } catch (StoreException e) {
        if (System.nanoTime() - giveUpAt > 0) {
          throw e;
        }
        Thread.sleep(PAUSE_MILLIS);
      }
    }
  }

  /** Unlike what a URL opens, one that refuses takes under these ids early. */
  private static LockStore gate(String address, Deque<LockStore> stores) {
    String[] parts = address.substring(GATE.length()).split("\\|", 2);
    LockStore gate = Stores.open(StoreUrl.parse(parts[0]));
    stores.push(gate);
    LockStore truth = Stores.open(StoreUrl.parse(parts[1]));
    stores.push(truth);
    LockStore both = GateStore.over(gate, truth, GateOptions.defaults().refusesCallersIds(true));
    stores.push(both);
    return both;
  }

  private void run(int atOnce) throws IOException, InterruptedException {
    for (int buyer = 0; buyer < atOnce; buyer++) {
      buyNext();
    }
    System.in.read();
    ending = true;
    if (!buyers.await(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
      throw new BenchException(
          buyers.getCount() + " takes were not answered in " + PATIENCE_SECONDS + " s");
    }
  }

  private void buyNext() {
    if (ending) {
      buyers.countDown();
    } else {
      SoakTake take = notes.next();
      ask(take, (answer, error) -> first(take, answer, error));
    }
  }

  private void later(Runnable task) {
    timer.schedule(task, PAUSE_MILLIS, TimeUnit.MILLISECONDS);
  }

  private interface Hearing {
    /** Either of them. */
    void told(@Nullable Change answer, @Nullable Throwable error);
  }

  private void ask(SoakTake take, Hearing hearing) {
    counters
        .get(SoakTake.COUNTERS.indexOf(take.counter()))
        .async()
        .tryTake(take.amount(), take.id())
        .whenComplete(
            (answer, error) -> {
              try {
                hearing.told(
                    answer, error instanceof CompletionException ? error.getCause() : error);
              } catch (RuntimeException e) {
                fail(take, e);
              }
            });
  }

  private void first(SoakTake take, @Nullable Change answer, @Nullable Throwable error) {
    if (answer != null) {
      note(take, answer);
      if (isRepeated(take)) {
        ask(take, (again, failed) -> repeated(take, answer, again, failed));
      } else if (pausesWhenRefused && !answer.isApplied()) {
        later(this::buyNext);
      } else {
        buyNext();
      }
    } else if (error instanceof OutcomeUnknownException) {
      notes.put(take, Note.UNKNOWN);
      if (take.number() % 2 == 0) {
        later(() -> ask(take, (again, failed) -> second(take, again, failed)));
      } else {
        buyNext();
      }
    } else if (error instanceof StoreException) {
      notes.put(take, Note.UNCHANGED);
      later(this::buyNext);
    } else {
      fail(take, error);
    }
  }

  private static boolean isRepeated(SoakTake take) {
    return take.number() % REPEATED_ONE_IN == 0
        && take.number() / REPEATING % REPEATING_ONE_IN == 0;
  }

  /** After an answer: it must be the same again, or fail. */
  private void repeated(
      SoakTake take, Change before, @Nullable Change answer, @Nullable Throwable error) {
    boolean same =
        answer == null
            ? error instanceof StoreException || error instanceof OutcomeUnknownException
            : answer.isApplied() ? answer.equals(before) : !before.isApplied();
    if (!same) {
      contradicted(take, before + ", then " + answer + " " + error);
    }
    buyNext();
  }

  /** After no answer: what is told now counts. */
  private void second(SoakTake take, @Nullable Change answer, @Nullable Throwable error) {
    if (answer != null) {
      note(take, answer);
    } else if (!(error instanceof StoreException || error instanceof OutcomeUnknownException)) {
      fail(take, error);
      return;
    }
    later(this::buyNext);
  }

  private void note(SoakTake take, Change answer) {
    if (answer.value() < 0 || (!answer.isApplied() && answer.value() >= take.amount())) {
      contradicted(take, answer.toString());
    } else {
      notes.put(take, answer.isApplied() ? Note.TAKEN : Note.REFUSED);
    }
    notes.countTold();
  }

  private void contradicted(SoakTake take, String told) {
    notes.put(take, Note.CONTRADICTED);
    System.err.println("take " + take.text() + " of " + take.amount() + " was told " + told);
  }

  private static void fail(SoakTake take, @Nullable Throwable error) {
    System.err.println("take " + take.text() + " failed: " + error);
    if (error != null) {
      error.printStackTrace();
    }
    Runtime.getRuntime().halt(1);
  }
}
