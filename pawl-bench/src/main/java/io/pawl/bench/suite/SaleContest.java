package io.pawl.bench.suite;

import io.pawl.Pawl;
import io.pawl.bench.Settings;
import io.pawl.bench.contest.ExclusionViolation;
import io.pawl.bench.report.Metric;
import io.pawl.bench.report.Numbers;
import io.pawl.bench.report.Sample;
import io.pawl.bench.report.Section;
import io.pawl.bench.report.Side;
import io.pawl.bench.report.Target;
import io.pawl.counter.OperationId;
import io.pawl.counter.Update;
import io.pawl.servers.fault.Child;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Two JVMs sell a stock to twice as many tries, through the gate and on the truth alone. After each
 * sale the tables are asked: exactly the stock must have been sold.
 */
final class SaleContest {

  static final String GATE = "Pawl, gate";
  static final String ALONE = "Pawl, MySQL alone";

  private static final int JVMS = 2;
  private static final int THREADS = 16;
  private static final double SHARE_OF_SPEED = 0.8;
  private static final double ASKED_PER_ITEM = 1.01;
  private static final String ID_OF_STOCK = "stock";
  private static final long ENOUGH_TO_WARM_UP = 1_000_000_000_000L;
  private static final long PATIENCE_MILLIS = 600_000;

  private final String suite;
  private final GateSuite.GateGround ground;
  private final Settings settings;
  private final Consumer<String> progress;

  SaleContest(
      String suite, GateSuite.GateGround ground, Settings settings, Consumer<String> progress) {
    this.suite = suite;
    this.ground = ground;
    this.settings = settings;
    this.progress = progress;
  }

  /**
   * Measures, unless the settings leave it out.
   *
   * @param items a multiple of the number of threads in all
   */
  List<Section> run(int items) {
    String title =
        String.format(
            Locale.ROOT, "sale of %,d items to %,d tries, 2 JVMs × 16 threads", items, 2 * items);
    if (!settings.includes(title)) {
      return List.of();
    }
    List<Side> sides =
        List.of(new Side(GATE, new ArrayList<>()), new Side(ALONE, new ArrayList<>()));
    for (int fork = 0; fork < settings.forks(); fork++) {
      for (int turn = 0; turn < sides.size(); turn++) {
        Side side = sides.get((fork + turn) % sides.size());
        Sample sample = sell(side.name().equals(GATE), items);
        side.forks().add(sample);
        progress.accept(
            String.format(
                "%s, %s, fork %d: %s %s items/s",
                suite, title, fork + 1, side.name(), Numbers.show(sample.of(Metric.ITEMS))));
      }
    }
    return List.of(
        new Section(
            suite,
            title,
            sides,
            List.of(
                Target.timesAtLeast(SHARE_OF_SPEED, GATE, Metric.ITEMS, ALONE),
                Target.atMost(GATE, Metric.REACHED, ASKED_PER_ITEM)),
            List.of(
                "items/s: until the last item was sold; all done: until the last try was answered",
                "truth asked/item: every call of the truth's seam for this counter, be it a take, sold"
                    + " or refused, or a look; counted in the client, since a transaction carries many",
                "takes without an id of the caller's; the ledger agreed with what was sold each"
                    + " time")));
  }

  private Sample sell(boolean throughGate, int items) {
    String address = ground.fresh();
    String truth = GateSuite.truthOf(address);
    try (Pawl pawl = Pawl.connect(throughGate ? address : truth)) {
      pawl.counter(SaleFork.COUNTER).update(Update.set(items), OperationId.of(ID_OF_STOCK));
      pawl.counter(SaleFork.WARM_UP).update(Update.set(ENOUGH_TO_WARM_UP));
    }
    List<String> arguments = new ArrayList<>();
    arguments.add(truth);
    arguments.add(Integer.toString(THREADS));
    arguments.add(Integer.toString(2 * items / (JVMS * THREADS)));
    arguments.add(Long.toString(Math.round(settings.warmUpSeconds() * 1e3)));
    if (throughGate) {
      arguments.add(GateSuite.gateOf(address));
    }
    List<Child> shops = new ArrayList<>();
    try {
      for (int jvm = 0; jvm < JVMS; jvm++) {
        shops.add(
            new Child(
                "a shop",
                settings.jvmArguments(),
                Child.ownClassPath(),
                SaleFork.class,
                arguments));
      }
      shops.forEach(shop -> shop.hear("ready", PATIENCE_MILLIS));
      shops.forEach(Child::goOn);
      return sample(shops, items);
    } finally {
      shops.forEach(Child::close);
    }
  }

  private Sample sample(List<Child> shops, int items) {
    double sold = 0;
    double soldMillis = 0;
    double doneMillis = 0;
    double asked = 0;
    for (Child shop : shops) {
      double[] figures = shop.hear("sold", PATIENCE_MILLIS);
      sold += figures[0];
      soldMillis = Math.max(soldMillis, figures[1]);
      doneMillis = Math.max(doneMillis, figures[2]);
      asked += figures[3];
    }
    check("sold", Math.round(sold), items);
    checkTables(ground.truth(), items);
    return new Sample(
        Map.of(
            Metric.ITEMS,
            items / soldMillis * 1e3,
            Metric.ALL_MILLIS,
            doneMillis,
            Metric.REACHED,
            asked / items));
  }

  /** What the tables say, without Pawl: all items were sold, once, and none is left. */
  static void checkTables(SqlGround truth, long items) {
    String sales =
        " FROM pawl_ledger WHERE counter = '"
            + SaleFork.COUNTER
            + "' AND delta <> 0 AND id <> '"
            + ID_OF_STOCK
            + "'";
    String left = "SELECT value FROM pawl_counter WHERE name = '" + SaleFork.COUNTER + "'";
    check("lines in the ledger", number(truth, "SELECT count(*)" + sales), items);
    check("taken by the ledger", -number(truth, "SELECT COALESCE(sum(delta), 0)" + sales), items);
    check("missing from the counter", items - number(truth, left), items);
  }

  private static long number(SqlGround truth, String sql) {
    return Long.parseLong(truth.ask(sql, 1));
  }

  private static void check(String what, long found, long items) {
    if (found != items) {
      throw new ExclusionViolation("of " + items + " items there are " + found + ' ' + what);
    }
  }
}
