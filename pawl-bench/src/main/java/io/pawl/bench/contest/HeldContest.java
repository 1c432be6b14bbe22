package io.pawl.bench.contest;

import io.pawl.bench.BenchException;
import io.pawl.bench.Settings;
import io.pawl.bench.report.Metric;
import io.pawl.bench.report.Numbers;
import io.pawl.bench.report.Sample;
import io.pawl.bench.report.Section;
import io.pawl.bench.report.Side;
import io.pawl.bench.report.Target;
import io.pawl.servers.fault.Child;
import io.pawl.spi.Inspectable;
import io.pawl.spi.LockStore;
import io.pawl.spi.StoreUrl;
import io.pawl.spi.Stores;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** Locks held for long by one JVM: what renewal asks of the server and costs the client. */
public final class HeldContest {

  private static final double USUAL_SECONDS = 60;
  private static final double PERIOD_SECONDS = Held.LEASE_SECONDS / 3.0;
  private static final long PATIENCE_MILLIS = 300_000;

  /** For a try: no contest has more locks than this. */
  private static final int MOST_LOCKS = Integer.getInteger("pawl.bench.locks", 1_000_000);

  /** The store, and what it has served. */
  public interface Server {

    /** The address of a store in which nobody has left anything. */
    String fresh();

    /** What can carry renewals: scripts, transactions. */
    long renewals();

    /** All that keeps the server busy meanwhile. */
    long commands();

    /** How much {@code side} has left; every side but Pawl has to be counted by the server. */
    default long left(String side) {
      throw new IllegalArgumentException("what " + side + " leaves cannot be counted");
    }
  }

  private final String suite;
  private final Server server;
  private final Settings settings;
  private final Consumer<String> progress;

  public HeldContest(String suite, Server server, Settings settings, Consumer<String> progress) {
    this.suite = suite;
    this.server = server;
    this.settings = settings;
    this.progress = progress;
  }

  /**
   * Measures, unless the settings leave it out.
   *
   * @param leasesPerRenewal the target: how many leases one renewal carries at least
   * @param notes beside those on the metrics that all have
   */
  public List<Section> run(
      int most, List<String> names, double leasesPerRenewal, List<String> notes) {
    return run(most, USUAL_SECONDS, names, leasesPerRenewal, notes);
  }

  /**
   * As the other, for {@code usualSeconds} unless the settings say how long.
   *
   * @param leasesPerRenewal the target: how many leases one renewal carries at least
   * @param notes beside those on the metrics that all have
   */
  public List<Section> run(
      int most,
      double usualSeconds,
      List<String> names,
      double leasesPerRenewal,
      List<String> notes) {
    int locks = Math.min(most, MOST_LOCKS);
    double seconds = settings.secondsOr(usualSeconds);
    String title =
        String.format(Locale.ROOT, "%,d locks held for %s s", locks, Numbers.show(seconds));
    if (!settings.includes(title)) {
      return List.of();
    }
    List<Side> sides = new ArrayList<>();
    names.forEach(name -> sides.add(new Side(name, new ArrayList<>())));
    for (int fork = 0; fork < settings.forks(); fork++) {
      for (Side side : sides) {
        side.forks().add(hold(side.name(), locks, Math.round(seconds * 1e3)));
        progress.accept(suite + ": " + title + ": " + side.name() + ", fork " + (fork + 1));
      }
    }
    List<String> allNotes = new ArrayList<>(notes);
    allNotes.add(
        "renewed ≤ s ago: of any lease, looked at every 5 s; a renewal left out would make it 20;"
            + " heap: the client's, after a collection, with all locks held");
    return List.of(new Section(suite, title, sides, targets(leasesPerRenewal), allNotes));
  }

  private static List<Target> targets(double leasesPerRenewal) {
    return List.of(
        Target.atMost(Held.PAWL, Metric.LOST, 0),
        Target.atMost(Held.PAWL, Metric.INVALID, 0),
        Target.atMost(Held.PAWL, Metric.LEFT, 0),
        Target.atMost(Held.PAWL, Metric.RENEWAL_AGE, 1.5 * PERIOD_SECONDS),
        Target.atLeast(Held.PAWL, Metric.LEASES_PER_COMMAND, leasesPerRenewal));
  }

  private Sample hold(String side, int locks, long millis) {
    String address = server.fresh();
    List<String> arguments = List.of(side, address, Integer.toString(locks), Long.toString(millis));
    try (Child child =
        new Child(side, settings.jvmArguments(), Child.ownClassPath(), HeldFork.class, arguments)) {
      Map<Metric, Double> figures = new EnumMap<>(Metric.class);
      figures.put(Metric.TAKING_SECONDS, child.hear("ready", PATIENCE_MILLIS)[0]);
      settings.pauseToWarmUp();

      long renewalsBefore = server.renewals();
      long commandsBefore = server.commands();
      long from = System.nanoTime();
      child.goOn();
      double[] held = child.hear("held", millis + PATIENCE_MILLIS);
      long renewals = server.renewals() - renewalsBefore;
      long commands = server.commands() - commandsBefore;
      double seconds = (System.nanoTime() - from) / 1e9;
      figures.put(Metric.CPU_PER_MINUTE, held[0]);
      figures.put(Metric.RENEWAL_AGE, held[1]);
      figures.put(Metric.COMMANDS, commands / seconds);
      if (seconds >= 2 * PERIOD_SECONDS) {
        if (renewals == 0) {
          throw new BenchException(side + " has renewed nothing in " + seconds + " s");
        }
        figures.put(Metric.LEASES_PER_COMMAND, locks * (seconds / PERIOD_SECONDS) / renewals);
      }

      child.goOn();
      double[] counted = child.hear("counted", PATIENCE_MILLIS);
      figures.put(Metric.LOST, counted[0]);
      figures.put(Metric.INVALID, counted[1]);
      figures.put(Metric.HEAP, counted[2]);
      if (counted[0] > 0 || counted[1] > 0) {
        throw new BenchException(
            String.format(
                Locale.ROOT,
                "%s LOST LEASES: of %,d locks %.0f were lost and %.0f invalid in the end",
                side,
                locks,
                counted[0],
                counted[1]));
      }

      child.goOn();
      child.hear("closed", PATIENCE_MILLIS);
      child.awaitEnd(PATIENCE_MILLIS);
      long left = side.equals(Held.PAWL) ? claims(address, locks) : server.left(side);
      figures.put(Metric.LEFT, (double) left);
      if (left > 0 && side.equals(Held.PAWL)) {
        throw new BenchException(side + " has left " + left + " locks held after its close");
      }
      return new Sample(figures);
    }
  }

  /** Locks that somebody holds or waits for, as Pawl's own list has them. */
  private static int claims(String address, int limit) {
    try (LockStore store = Stores.open(StoreUrl.parse(address))) {
      return ((Inspectable) store)
          .list(limit)
          .toCompletableFuture()
          .orTimeout(PATIENCE_MILLIS, TimeUnit.MILLISECONDS)
          .join()
          .size();
    }
  }
}
