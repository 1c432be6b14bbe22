package io.pawl.cli.demo;

import io.pawl.Counter;
import io.pawl.Pawl;
import io.pawl.cli.command.Command;
import io.pawl.cli.command.Exit;
import io.pawl.cli.command.Specs;
import io.pawl.cli.demo.DemoHistory.Kind;
import io.pawl.counter.OperationId;
import io.pawl.counter.OutcomeUnknownException;
import io.pawl.counter.Update;
import io.pawl.error.StoreUnavailableException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.ParseResult;

/** One process of the flash sale: its share of the buyers, several at a time. */
public final class SaleWorker implements Command {

  static final String PRIZES = "prizes";
  static final String BUYER = "buyer-";
  static final String SECOND_HALF = "second-half";

  private static final int THREADS = 8;
  private static final int TRIES = 20;
  private static final long PATIENCE_MILLIS = 60_000;

  @Override
  public CommandSpec spec() {
    return Specs.command("demo-buyers", "One process of the demo's flash sale.")
        .addPositional(
            PositionalParamSpec.builder().index("0").type(String.class).paramLabel("DIR").build())
        .addPositional(
            PositionalParamSpec.builder().index("1").type(String.class).paramLabel("N").build())
        .addOption(Specs.value("WHAT", "What to break: counter.", "--break"));
  }

  static String store(Path directory) {
    return "sqlite:" + directory.resolve("locks.db");
  }

  static List<Integer> buyersOf(int process) {
    return IntStream.range(0, SaleDemo.BUYERS)
        .filter(buyer -> buyer % SaleDemo.PROCESSES == process)
        .boxed()
        .toList();
  }

  @Override
  public int run(ParseResult arguments, List<String> rest) {
    Path directory = Path.of(arguments.matchedPositionalValue(0, "."));
    List<Integer> buyers = buyersOf(Integer.parseInt(arguments.matchedPositionalValue(1, "0")));
    boolean broken = arguments.matchedOptionValue("--break", "").equals("counter");
    DemoHistory history = new DemoHistory(directory);
    ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    try (Pawl pawl = Pawl.connect(store(directory))) {
      Counter prizes = pawl.counter(PRIZES);
      int half = buyers.size() / 2;
      serve(buyers.subList(0, half), prizes, broken, history, threads);
      Path more = directory.resolve(SECOND_HALF);
      if (!DemoProcesses.await(() -> Files.exists(more), PATIENCE_MILLIS)) {
        return Exit.INTERNAL;
      }
      serve(buyers.subList(half, buyers.size()), prizes, broken, history, threads);
      return Exit.OK;
    } catch (InterruptedException | ExecutionException e) {
      throw new IllegalStateException(e);
    } finally {
      threads.shutdownNow();
    }
  }

  private static void serve(
      List<Integer> buyers,
      Counter prizes,
      boolean broken,
      DemoHistory history,
      ExecutorService threads)
      throws InterruptedException, ExecutionException {
    List<Future<?>> all = new ArrayList<>();
    for (int buyer : buyers) {
      all.add(
          threads.submit(
              () -> {
                boolean sold = broken ? takeBlindly(prizes) : take(prizes, BUYER + buyer);
                history.add(sold ? Kind.SOLD : Kind.SOLD_OUT, buyer, 0, 0);
              }));
    }
    for (Future<?> one : all) {
      one.get();
    }
  }

  /** Asks until there is an answer, under the buyer's own id. */
  private static boolean take(Counter prizes, String id) {
    for (int i = 1; ; i++) {
      try {
        return prizes.tryTake(1, OperationId.of(id)).isApplied();
      } catch (StoreUnavailableException | OutcomeUnknownException e) {
        if (i == TRIES) {
          throw e;
        }
      }
    }
  }

  /** What the demo must not let pass: reads, and writes what it has made of it. */
  private static boolean takeBlindly(Counter prizes) {
    long left = prizes.get();
    return left > 0 && prizes.update(Update.set(left - 1)).isApplied();
  }
}
