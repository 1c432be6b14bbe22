package io.pawl.cli.demo;

import io.pawl.Counter;
import io.pawl.Pawl;
import io.pawl.cli.command.Exit;
import io.pawl.cli.command.Output;
import io.pawl.cli.demo.DemoHistory.Event;
import io.pawl.cli.demo.DemoHistory.Kind;
import io.pawl.counter.OperationId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A flash sale: processes full of buyers try for a few prizes, one is killed while it sells, and
 * another asks again for its buyers. Then it compares what the buyers were told with the ledger.
 */
final class SaleDemo {

  static final int PROCESSES = 3;
  static final int BUYERS = 2_000;

  private static final int PRIZES = 10;
  private static final int PATIENCE_SECONDS = 60;

  private final Path directory;
  private final String broken;
  private final DemoProcesses processes;
  private final Output output;
  private final List<Process> shops = new ArrayList<>();

  SaleDemo(Path directory, String broken, DemoProcesses processes, Output output) {
    this.directory = directory;
    this.broken = broken;
    this.processes = processes;
    this.output = output;
  }

  int play() throws IOException, InterruptedException {
    output.result(
        PROCESSES + " processes, " + BUYERS + " buyers, " + PRIZES + " prizes in two deliveries.");
    DemoHistory history = new DemoHistory(directory);
    List<String> failures = new ArrayList<>();
    try (Pawl pawl = Pawl.connect(SaleWorker.store(directory))) {
      Counter prizes = pawl.counter(SaleWorker.PRIZES);
      prizes.add(PRIZES / 2, OperationId.of("delivery-1"));
      for (int shop = 0; shop < PROCESSES; shop++) {
        shops.add(start(shop));
      }
      int killed = killOneThatSells(history);
      if (killed < 0) {
        failures.add("no process sold anything within " + PATIENCE_SECONDS + " s");
      } else {
        shops.set(killed, start(killed));
      }
      prizes.add(PRIZES - PRIZES / 2, OperationId.of("delivery-2"));
      Files.createFile(directory.resolve(SaleWorker.SECOND_HALF));
      for (Process shop : shops) {
        if (!shop.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS) || shop.exitValue() != Exit.OK) {
          failures.add("process " + shop.pid() + " did not serve all its buyers");
        }
      }
      return judge(history, prizes, failures);
    }
  }

  private Process start(int shop) throws IOException {
    List<String> more = new ArrayList<>(List.of(Integer.toString(shop)));
    if (!broken.isEmpty()) {
      more.addAll(List.of("--break", broken));
    }
    return processes.start("demo-buyers", directory, more);
  }

  /** Kills the first that has told a buyer of a prize; answers which, or -1. */
  private int killOneThatSells(DemoHistory history) throws InterruptedException {
    DemoProcesses.await(() -> firstSale(history) != null, PATIENCE_SECONDS * 1_000L);
    Event sale = firstSale(history);
    for (int shop = 0; sale != null && shop < shops.size(); shop++) {
      Process process = shops.get(shop);
      if (process.pid() == sale.pid()) {
        process.destroyForcibly().waitFor();
        long answered = history.read().stream().filter(e -> e.pid() == sale.pid()).count();
        output.result(
            "kill -9 of process "
                + sale.pid()
                + ", which had answered "
                + answered
                + " of its "
                + SaleWorker.buyersOf(shop).size()
                + " buyers; another asks again for all of them");
        return shop;
      }
    }
    return -1;
  }

  private static @Nullable Event firstSale(DemoHistory history) {
    return history.read().stream().filter(e -> e.kind() == Kind.SOLD).findFirst().orElse(null);
  }

  private int judge(DemoHistory history, Counter prizes, List<String> failures) {
    SaleCheck check =
        new SaleCheck(history.read(), prizes.ledger().history(4 * BUYERS), prizes.get());
    failures.addAll(check.failures(BUYERS, PRIZES));
    output.result(
        "buyers: "
            + check.told(Kind.SOLD).size()
            + " were told that they have a prize, "
            + check.told(Kind.SOLD_OUT).size()
            + " that they have none");
    output.result("ledger: " + check.sold().size() + " sold, " + prizes.get() + " left");
    failures.stream().limit(5).forEach(failure -> output.result("FAILED: " + failure));
    if (!failures.isEmpty()) {
      return Exit.INTERNAL;
    }
    output.result("All checks held: sold as often as there are prizes, to whom it was told, once.");
    return Exit.OK;
  }
}
