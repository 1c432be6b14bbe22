package io.pawl.bench.suite;

import io.pawl.Pawl;
import io.pawl.bench.Settings;
import io.pawl.bench.Suite;
import io.pawl.bench.contest.ExclusionViolation;
import io.pawl.bench.report.Metric;
import io.pawl.bench.report.Numbers;
import io.pawl.bench.report.Sample;
import io.pawl.bench.report.Section;
import io.pawl.bench.report.Side;
import io.pawl.bench.report.Target;
import io.pawl.bench.rival.SqlFlavour;
import io.pawl.counter.Update;
import io.pawl.servers.fault.Child;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.stream.IntStream;

/** What forgetting a long ledger costs those who meanwhile sell from the same counter. */
final class PruneSuite implements Suite {

  static final String COUNTER = "sale";
  static final String ALONE = "1,000 takes/s";
  static final String PRUNED = "… while it is pruned";

  private static final int[] OLD = {500_000, 5_000_000};
  private static final int REAL = 1_000;
  private static final int MOST_COPIED = 100_000;
  private static final int LONGEST_TAKE_MILLIS = 100;
  private static final double USUAL_SECONDS = 20;
  private static final long STOCK = 1_000_000_000_000L;
  private static final long PATIENCE_MILLIS = 3_600_000;

  private final SqlFlavour flavour;

  PruneSuite(SqlFlavour flavour) {
    this.flavour = flavour;
  }

  @Override
  public String name() {
    return flavour.word() + "-prune";
  }

  @Override
  public String purpose() {
    return "a counter on a " + flavour.title + " server that sells while its ledger is pruned";
  }

  @Override
  public List<Section> measure(Settings settings, Consumer<String> progress) {
    List<Section> sections = new ArrayList<>();
    try (SqlGround ground = new SqlGround(flavour, memory())) {
      for (int old : OLD) {
        String title = String.format("%,d old operations", old);
        if (settings.includes(title)) {
          sections.add(measure(title, old, ground, settings, progress));
        }
      }
    }
    return sections;
  }

  /** So much that five million lines fit: InnoDB's default of 128 MB holds a seventh of them. */
  private String[] memory() {
    return flavour.isPostgres()
        ? new String[] {"shared_buffers=1GB"}
        : new String[] {"--innodb-buffer-pool-size=1G"};
  }

  Section measure(
      String title, int old, SqlGround ground, Settings settings, Consumer<String> progress) {
    Side alone = new Side(ALONE, new ArrayList<>());
    Side pruned = new Side(PRUNED, new ArrayList<>());
    for (int fork = 0; fork < settings.forks(); fork++) {
      String address = ground.fresh();
      fill(ground, address, old);
      progress.accept(name() + ", " + title + ": filled");
      sell(ground, address, old, settings, alone, pruned);
      progress.accept(
          name()
              + ", fork "
              + (fork + 1)
              + ": no take longer than "
              + Numbers.show(pruned.figure(Metric.MAX))
              + " ms");
    }
    return new Section(
        name(),
        title,
        List.of(alone, pruned),
        List.of(
            Target.atMost(PRUNED, Metric.MAX, LONGEST_TAKE_MILLIS),
            Target.atMost(PRUNED, Metric.LOST, 0)),
        List.of(
            ground.notes().get(0) + "; and " + memory()[0].replaceFirst("^--", ""),
            "16 threads take in turns of 16 ms each; times count from when a take was due",
            "the same JVM holds "
                + PruneFork.LOCKS
                + " locks with a lease of "
                + PruneFork.LEASE.toSeconds()
                + " s, to be renewed every third of it; another client of it prunes"));
  }

  /** Some real takes, copied until there are enough of them, two days old. */
  private void fill(SqlGround ground, String address, int old) {
    try (Pawl pawl = Pawl.connect(address)) {
      pawl.counter(COUNTER).update(Update.set(STOCK));
      IntStream.range(0, REAL)
          .mapToObj(i -> pawl.counter(COUNTER).async().tryTake(1).toCompletableFuture())
          .toList()
          .forEach(CompletableFuture::join);
    }
    String day = flavour.isPostgres() ? "INTERVAL '2 days'" : "INTERVAL 2 DAY";
    ground.run("UPDATE pawl_ledger SET at = at - " + day + ", issued = issued - " + day);
    int lines = REAL + 1;
    while (lines < old) {
      int copied = Math.min(Math.min(lines - 1, MOST_COPIED), old - lines);
      ground.run(
          "INSERT INTO pawl_ledger (counter, id, line, operation, status, delta, value, at, issued)"
              + " SELECT counter, REVERSE(CONCAT(line + "
              + copied
              + ")), line + "
              + copied
              + ", operation, status, delta, value, at, issued FROM pawl_ledger WHERE line > "
              + (lines - copied));
      lines += copied;
    }
    ground.run(
        "UPDATE pawl_counter SET last_line = "
            + lines
            + ", forgotten = value - (SELECT SUM(delta) FROM pawl_ledger)");
    ground.run("ANALYZE " + (flavour.isPostgres() ? "" : "TABLE ") + "pawl_ledger");
  }

  private static void sell(
      SqlGround ground, String address, int old, Settings settings, Side alone, Side pruned) {
    List<String> arguments =
        List.of(
            address,
            Long.toString(Math.round(settings.warmUpSeconds() * 1e3)),
            Long.toString(Math.round(settings.secondsOr(USUAL_SECONDS) * 1e3)));
    try (Child child =
        new Child(
            "the seller",
            settings.jvmArguments(),
            Child.ownClassPath(),
            PruneFork.class,
            arguments)) {
      alone.forks().add(takes(child.hear("alone", PATIENCE_MILLIS)));
      double[] figures = child.hear("pruned", PATIENCE_MILLIS);
      Sample takes = takes(figures);
      Map<Metric, Double> all = takes.figures();
      all.put(Metric.SECONDS, figures[4]);
      all.put(Metric.LOST, figures[6]);
      all.put(Metric.RENEWAL_AGE, figures[7]);
      pruned.forks().add(new Sample(all));
      check("operations were forgotten", Math.round(figures[5]), old);
    }
    check(
        "operations older than a day are left",
        Long.parseLong(ground.ask("SELECT COUNT(*) FROM pawl_ledger WHERE line <= " + old, 1)),
        0);
    check(
        "is what the value differs from its ledger by",
        Long.parseLong(
            ground.ask(
                "SELECT value - forgotten - (SELECT SUM(delta) FROM pawl_ledger) FROM pawl_counter",
                1)),
        0);
  }

  private static Sample takes(double[] figures) {
    return new Sample(
        Map.of(
            Metric.TOLD_PER_SECOND, figures[0],
            Metric.P50, figures[1],
            Metric.P99, figures[2],
            Metric.MAX, figures[3]));
  }

  private static void check(String what, long found, long expected) {
    if (found != expected) {
      throw new ExclusionViolation(found + " " + what + ", not " + expected);
    }
  }
}
