package io.pawl.bench.suite;

import io.pawl.bench.Settings;
import io.pawl.bench.Suite;
import io.pawl.bench.report.Metric;
import io.pawl.bench.report.Numbers;
import io.pawl.bench.report.Sample;
import io.pawl.bench.report.Section;
import io.pawl.bench.report.Side;
import io.pawl.bench.report.Target;
import io.pawl.bench.rival.PawlRival;
import io.pawl.bench.rival.SpringLocks;
import io.pawl.bench.rival.SqlFlavour;
import io.pawl.servers.fault.Child;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** What clients cost a database server that only wait for a lock which one more client holds. */
final class WaitingSuite implements Suite {

  static final String LOCK = "bench";

  private static final String PAWL = PawlRival.PASSING;
  private static final double USUAL_SECONDS = 60;
  private static final long PATIENCE_MILLIS = 120_000;

  private final SqlFlavour flavour;

  WaitingSuite(SqlFlavour flavour) {
    this.flavour = flavour;
  }

  @Override
  public String name() {
    return flavour.word() + "-waiting";
  }

  @Override
  public String purpose() {
    return "clients that only wait for a lock on a " + flavour.title + " server";
  }

  @Override
  public List<Section> measure(Settings settings, Consumer<String> progress) {
    List<Section> sections = new ArrayList<>();
    try (SqlGround ground = new SqlGround(flavour)) {
      for (int clients : new int[] {1, 10, flavour.isPostgres() ? 40 : 50}) {
        String title = clients + (clients == 1 ? " client waits" : " clients wait");
        if (settings.includes(title)) {
          sections.add(measure(title, clients, ground, settings, progress));
        }
      }
    }
    return sections;
  }

  private Section measure(
      String title, int clients, SqlGround ground, Settings settings, Consumer<String> progress) {
    List<Side> sides =
        List.of(new Side(PAWL, new ArrayList<>()), new Side(SpringLocks.NAME, new ArrayList<>()));
    double seconds = settings.secondsOr(USUAL_SECONDS);
    for (int fork = 0; fork < settings.forks(); fork++) {
      for (Side side : sides) {
        side.forks().add(wait(side.name(), clients, seconds, ground, settings));
        progress.accept(name() + ": " + title + ": " + side.name() + ", fork " + (fork + 1));
      }
    }
    return new Section(
        name(),
        title + " for " + Numbers.show(seconds) + " s",
        sides,
        List.of(
            Target.atMost(PAWL, Metric.STATEMENTS, 100),
            Target.atMost(PAWL, Metric.COMMITS, 5),
            Target.atMost(PAWL, Metric.LOG, 10_000 / 3600.0)),
        List.of(
            ground.notes().get(0),
            "each client has connections of its own (Pawl two, of the 100 that PostgreSQL allows;"
                + " the registry a pool of one), all in one JVM; statements: "
                + (flavour.isPostgres() ? "transactions" : "as the server counts them")
                + "; commits: transactions that wrote; log: "
                + flavour.log));
  }

  private static Sample wait(
      String side, int clients, double seconds, SqlGround ground, Settings settings) {
    List<String> jvm = new ArrayList<>(settings.jvmArguments());
    jvm.add("-Dpawl.bench.pool=1");
    List<String> arguments = List.of(side, ground.fresh(), Integer.toString(clients));
    try (Child child = new Child(side, jvm, Child.ownClassPath(), WaitingFork.class, arguments)) {
      child.hear("waiting", PATIENCE_MILLIS);
      settings.pauseToWarmUp();
      long statements = ground.operations().orElseThrow();
      long commits = ground.commits();
      long log = ground.logBytes();
      long from = System.nanoTime();
      child.goOn();
      Settings.pause(Math.round(seconds * 1e3));
      child.goOn();
      Map<Metric, Double> figures = new EnumMap<>(Metric.class);
      figures.put(Metric.CPU_PER_MINUTE, child.hear("waited", PATIENCE_MILLIS)[0]);
      double passed = (System.nanoTime() - from) / 1e9;
      figures.put(Metric.LOG, (ground.logBytes() - log) / 1e3 / passed);
      figures.put(Metric.COMMITS, (ground.commits() - commits) / passed);
      figures.put(Metric.STATEMENTS, (ground.operations().orElseThrow() - statements) / passed);
      return new Sample(figures);
    }
  }
}
