package io.pawl.lab.chaos;

import io.pawl.Pawl;
import io.pawl.checker.Stock;
import io.pawl.checker.Take;
import io.pawl.checker.Take.Outcome;
import io.pawl.counter.OperationConflictException;
import io.pawl.counter.OperationId;
import io.pawl.counter.OperationTooOldException;
import io.pawl.counter.Update;
import io.pawl.error.StoreException;
import io.pawl.options.PawlOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * What the counters of a run have before and after it.
 *
 * @param address by which they are asked, past all proxies
 */
record Stocks(String address, Path folder) {

  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final Duration PAUSE = Duration.ofMillis(100);

  /** A counter of the run. */
  enum Counted {
    PLENTY(1_000_000_000),
    SCARCE(400);

    final long stock;

    Counted(long stock) {
      this.stock = stock;
    }

    String counter() {
      return "chaos-stock-" + name().toLowerCase(Locale.ROOT);
    }
  }

  /** Ids are asked for as if they were from before what is then forgotten. */
  private static final Duration ISSUED_AGO = Duration.ofHours(18);

  private static final Duration FORGOTTEN_AGO = Duration.ofHours(12);

  /** A machine that starts all of this at once may let the first attempts time out. */
  static Pawl connect(String address, PawlOptions options) throws InterruptedException {
    long giveUpAt = System.nanoTime() + PATIENCE.toNanos();
    while (true) {
      try {
        return Pawl.connect(address, options);
      } catch (StoreException e) {
        if (System.nanoTime() - giveUpAt > 0) {
          throw e;
        }
        Thread.sleep(PAUSE.toMillis());
      }
    }
  }

  void fill() throws InterruptedException {
    try (Pawl pawl = connect(address, PawlOptions.defaults().patience(PATIENCE))) {
      for (Counted counted : Counted.values()) {
        pawl.counter(counted.counter())
            .update(Update.set(counted.stock), OperationId.of("chaos-stock"));
      }
    }
  }

  /**
   * Asks for each take of which nobody knows what became of it; from then on that is final. What
   * was told while a replica took over may be forgotten, and is asked for too.
   */
  List<Stock> settle(List<Integer> jvms, Takeovers takeovers) throws InterruptedException {
    try (Pawl pawl = connect(address, PawlOptions.defaults().patience(PATIENCE))) {
      List<Take> never = new ArrayList<>();
      List<Take> applied = new ArrayList<>();
      for (int jvm : jvms) {
        TakeNotes takes = TakeNotes.of(folder, jvm);
        for (int number : takes.takes().toArray()) {
          Take take = takes.take(number);
          if (take.outcome() == Outcome.UNKNOWN) {
            Outcome outcome = outcome(pawl, take);
            takes.end(number, outcome);
            if (outcome == Outcome.UNCHANGED) {
              never.add(take);
            }
          } else if (takeovers.cover(take.span())) {
            takes.set(number, takeovers.remembered(take, outcome(pawl, take)));
          }
          if (takes.take(number).outcome() == Outcome.APPLIED) {
            applied.add(takes.take(number));
          }
        }
      }
      redeliver(pawl, never);
      List<Stock> stocks = new ArrayList<>();
      for (Counted counted : Counted.values()) {
        long left = pawl.counter(counted.counter()).get();
        Stock stock = new Stock(counted.counter(), counted.stock, 0, left);
        stocks.add(stock);
        explain(pawl, stock, applied);
      }
      return stocks;
    }
  }

  /** Names the takes that were told as applied, where more were told than are gone. */
  private static void explain(Pawl pawl, Stock stock, List<Take> applied) {
    List<Take> told =
        applied.stream().filter(take -> take.counter().equals(stock.counter())).toList();
    if (told.stream().mapToLong(Take::amount).sum() <= stock.before() - stock.after()) {
      return;
    }
    for (Take take : told) {
      Outcome remembered = outcome(pawl, take);
      if (remembered != Outcome.APPLIED) {
        System.err.println("chaos: told as applied, now " + remembered + ": " + take);
      }
    }
  }

  private static Outcome outcome(Pawl pawl, Take take) {
    OperationId id = OperationId.of(take.id(), Instant.now().minus(ISSUED_AGO));
    return switch (pawl.counter(take.counter()).outcome(id).status()) {
      case APPLIED -> Outcome.APPLIED;
      case REFUSED -> Outcome.REFUSED;
      case NEVER -> Outcome.UNCHANGED;
      default -> Outcome.UNKNOWN;
    };
  }

  /**
   * What was answered with "never" stays so when it comes again, though what was first used long
   * ago is forgotten in between: else more is gone than was told.
   */
  private static void redeliver(Pawl pawl, List<Take> never) {
    for (Counted counted : Counted.values()) {
      pawl.counter(counted.counter()).ledger().prune(Instant.now().minus(FORGOTTEN_AGO));
    }
    for (Take take : never) {
      try {
        pawl.counter(take.counter()).tryTake(take.amount(), OperationId.of(take.id()));
      } catch (OperationConflictException | OperationTooOldException e) {
        continue; // as it should be
      }
    }
  }
}
