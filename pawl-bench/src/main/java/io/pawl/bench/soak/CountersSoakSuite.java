package io.pawl.bench.soak;

import io.pawl.bench.BenchException;
import io.pawl.bench.Settings;
import io.pawl.bench.Suite;
import io.pawl.bench.SuiteSource;
import io.pawl.bench.contest.ExclusionViolation;
import io.pawl.bench.contest.Folders;
import io.pawl.bench.report.Metric;
import io.pawl.bench.report.Sample;
import io.pawl.bench.report.Section;
import io.pawl.bench.report.Side;
import io.pawl.bench.rival.SqlFlavour;
import io.pawl.bench.soak.SoakNotes.Note;
import io.pawl.bench.soak.SoakPlan.Kind;
import io.pawl.servers.ServerException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Millions of takes with ids by several JVMs, while servers, network and clients fail at random:
 * nothing is measured beside a rival here, everything is checked against the ledger.
 */
public final class CountersSoakSuite implements Suite, SuiteSource {

  private static final String PAWL = "Pawl tryTake";

  /** A service that can be soaked. */
  private enum Service {
    MYSQL(() -> SoakGround.of(SqlFlavour.MYSQL)),
    MARIADB(() -> SoakGround.of(SqlFlavour.MARIADB)),
    POSTGRES(() -> SoakGround.of(SqlFlavour.POSTGRESQL)),
    REDIS(SoakGround::redis),
    GATE(() -> SoakGround.gate(SqlFlavour.MYSQL));

    final Supplier<SoakGround> ground;

    Service(Supplier<SoakGround> ground) {
      this.ground = ground;
    }

    String title(long takes) {
      return String.format(
          Locale.ROOT, "%s, %,d takes under faults", name().toLowerCase(Locale.ROOT), takes);
    }
  }

  @Override
  public List<Suite> suites() {
    return List.of(this);
  }

  @Override
  public String name() {
    return "counters-soak";
  }

  @Override
  public String purpose() {
    return "takes (--takes) under random faults (--seed), every one checked in the ledger";
  }

  @Override
  public List<Section> measure(Settings settings, Consumer<String> progress) {
    List<Section> sections = new ArrayList<>();
    for (Service service : Service.values()) {
      String title = service.title(settings.takes());
      if (settings.includes(title)) {
        Path folder = Folders.create(settings.folder(), name());
        try (SoakGround ground = service.ground.get()) {
          sections.addAll(soak(title, ground, folder, settings, progress));
        } finally {
          Folders.delete(folder);
        }
      }
    }
    return sections;
  }

  private List<Section> soak(
      String title, SoakGround ground, Path folder, Settings settings, Consumer<String> progress) {
    SoakPlan plan = SoakPlan.of(settings.seed(), settings.takes(), ground.parts().size());
    progress.accept(title + ": --seed " + plan.seed() + ", " + plan.faults().size() + " faults");
    try {
      return report(title, plan, new SoakRun(ground, plan, settings, folder, progress).run());
    } catch (BenchException | ServerException e) {
      throw new BenchException(title + ", --seed " + plan.seed() + ": " + e.getMessage(), e);
    }
  }

  /**
   * @throws ExclusionViolation where anything is not as it must be
   */
  List<Section> report(String title, SoakPlan plan, SoakRun.Result result) {
    if (!result.violations().isEmpty()) {
      throw new ExclusionViolation(
          title
              + ", --seed "
              + plan.seed()
              + ": CONSERVATION VIOLATED\n  "
              + String.join("\n  ", result.violations()));
    }
    long taken = result.count(Note.TAKEN);
    long refused = result.count(Note.REFUSED);
    Note[] found = {Note.FOUND_APPLIED, Note.FOUND_REFUSED, Note.FOUND_NEVER};
    Map<Metric, Double> figures =
        Map.of(
            Metric.TAKES, (double) result.count(Note.values()),
            Metric.TOLD_TAKEN, (double) taken,
            Metric.TOLD_REFUSED, (double) refused,
            Metric.TOLD_UNCHANGED, (double) result.count(Note.UNCHANGED),
            Metric.FOUND_OUT, (double) result.count(found),
            Metric.SECONDS, result.seconds(),
            Metric.TOLD_PER_SECOND, (taken + refused) / result.seconds());
    List<String> notes = new ArrayList<>();
    notes.add("--seed " + plan.seed() + "; " + result.jvms() + " client JVMs, three at a time");
    notes.add(
        String.format(
            Locale.ROOT,
            "found out by their ids: %,d applied, %,d refused, %,d never arrived",
            result.count(Note.FOUND_APPLIED),
            result.count(Note.FOUND_REFUSED),
            result.count(Note.FOUND_NEVER)));
    notes.add(
        "every take is in the ledger as it was told (what a gate refused need not be), and every"
            + " line was asked for");
    List<Side> faults = new ArrayList<>();
    for (Kind kind : Kind.values()) {
      double times = result.played().getOrDefault(kind, 0);
      faults.add(new Side(kind.title(), List.of(new Sample(Map.of(Metric.FAULTS, times)))));
    }
    return List.of(
        new Section(
            name(), title, List.of(new Side(PAWL, List.of(new Sample(figures)))), List.of(), notes),
        new Section(name(), title + ": the faults", faults, List.of(), List.of()));
  }
}
