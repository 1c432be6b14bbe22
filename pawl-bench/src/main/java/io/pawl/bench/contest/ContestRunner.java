package io.pawl.bench.contest;

import io.pawl.bench.Settings;
import io.pawl.bench.report.Metric;
import io.pawl.bench.report.Numbers;
import io.pawl.bench.report.Sample;
import io.pawl.bench.report.Section;
import io.pawl.bench.report.Side;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Runs the contests of a suite. Each side's forks take turns with the other sides' forks, every
 * round beginning with another side, so that whatever else the machine does falls on all of them.
 */
public final class ContestRunner {

  /** More of them would keep each other from answering in time. */
  private static final int STARTED_AT_ONCE = 10;

  private final ContestSuite suite;
  private final Settings settings;
  private final Consumer<String> progress;

  public ContestRunner(ContestSuite suite, Settings settings, Consumer<String> progress) {
    this.suite = suite;
    this.settings = settings;
    this.progress = progress;
  }

  public List<Section> run() {
    Path folder = Folders.create(settings.folder(), suite.name());
    try (ContestSuite.Ground ground = suite.open(folder)) {
      return run(ground);
    } finally {
      Folders.delete(folder);
    }
  }

  /** On a store that is there already. */
  public List<Section> run(ContestSuite.Ground ground) {
    List<Section> sections = new ArrayList<>();
    for (Contest contest : suite.contests()) {
      if (settings.includes(contest.title())) {
        sections.add(run(contest, ground, sections.isEmpty() ? about(ground) : List.of()));
      }
    }
    return sections;
  }

  private List<String> about(ContestSuite.Ground ground) {
    List<String> about = new ArrayList<>(ground.notes());
    about.addAll(Floor.measure(settings.folder()));
    about.addAll(ground.floors());
    return about;
  }

  private Section run(Contest contest, ContestSuite.Ground ground, List<String> about) {
    Map<String, List<Sample>> samples = new LinkedHashMap<>();
    List<String> notes = new ArrayList<>(about);
    for (String name : contest.rivals()) {
      if (!settings.includesSide(name)) {
        continue;
      }
      String missing = suite.rival(name).missing();
      if (missing.isEmpty()) {
        samples.put(name, new ArrayList<>());
      } else {
        notes.add(name + " is left out: " + missing);
      }
    }
    List<String> present = List.copyOf(samples.keySet());
    for (int fork = 0; fork < settings.forks(); fork++) {
      for (int turn = 0; turn < present.size(); turn++) {
        String name = present.get((fork + turn) % present.size());
        Sample sample = fork(name, load(contest, name), ground);
        samples.computeIfAbsent(name, n -> new ArrayList<>()).add(sample);
        progress.accept(
            suite.name()
                + ", "
                + contest.title()
                + ", fork "
                + (fork + 1)
                + ": "
                + name
                + " "
                + Numbers.show(sample.of(Metric.CYCLES))
                + " cycles/s");
      }
    }
    List<Side> sides = new ArrayList<>();
    samples.forEach((name, forks) -> sides.add(new Side(name, forks)));
    return new Section(suite.name(), contest.title(), sides, contest.targets(), notes);
  }

  private Load load(Contest contest, String rival) {
    Load load = contest.ownLoads().getOrDefault(rival, contest.load());
    return settings.threads() == 0 ? load : load.withThreads(settings.threads());
  }

  private Sample fork(String rival, Load load, ContestSuite.Ground ground) {
    Path folder = Folders.create(settings.folder(), "fork");
    Path board = folder.resolve("board");
    Board words = Board.at(board, load.locks());
    String address = ground.fresh();
    Usage before = Usage.of(ground);
    List<ForkProcess> processes = new ArrayList<>();
    try {
      for (int jvm = 0; jvm < load.jvms(); jvm++) {
        Fork.Order order =
            new Fork.Order(
                suite.name(),
                rival,
                address,
                board,
                folder.resolve("tally-" + jvm),
                jvm,
                load,
                Math.round(settings.warmUpSeconds() * 1e3),
                Math.round(settings.secondsOr(Settings.USUAL_SECONDS) * 1e3),
                settings.virtualThreads());
        processes.add(new ForkProcess(order, settings.jvmArguments()));
        if (processes.size() % STARTED_AT_ONCE == 0) {
          processes.forEach(ForkProcess::awaitReady);
        }
      }
      processes.forEach(ForkProcess::awaitReady);
      processes.forEach(ForkProcess::go);
      List<Tally> tallies = processes.stream().map(ForkProcess::tally).toList();
      checkSum(rival, tallies, words);
      if (load.writes()) {
        ground.checkRows(address, words.entries());
      }
      return Tally.sum(load, tallies, Usage.of(ground).since(before));
    } finally {
      processes.forEach(ForkProcess::close);
      Folders.delete(folder);
    }
  }

  static void checkSum(String rival, List<Tally> tallies, Board board) {
    long cycles = tallies.stream().mapToLong(Tally::cycles).sum();
    long entries = board.entries();
    if (entries != cycles) {
      throw new ExclusionViolation(
          rival + ": of " + cycles + " increments under the lock " + entries + " are left");
    }
  }
}
