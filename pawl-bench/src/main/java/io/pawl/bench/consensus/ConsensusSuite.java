package io.pawl.bench.consensus;

import io.pawl.bench.Settings;
import io.pawl.bench.contest.Contest;
import io.pawl.bench.contest.ContestRunner;
import io.pawl.bench.contest.ContestSuite;
import io.pawl.bench.contest.Held;
import io.pawl.bench.contest.HeldContest;
import io.pawl.bench.contest.Load;
import io.pawl.bench.report.Metric;
import io.pawl.bench.report.Section;
import io.pawl.bench.report.Target;
import io.pawl.bench.rival.PawlRival;
import io.pawl.bench.rival.Rival;
import io.pawl.bench.rival.SharedRivals;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** Pawl beside the other client of one service, on one server or on three. */
final class ConsensusSuite implements ContestSuite {

  private static final String PAWL = PawlRival.PASSING;
  private static final String STRICT = PawlRival.STRICT;

  /** Under a tenth of the load. */
  private static final String FEW = "Pawl, strict order, 100 threads";

  private static final int HELD = 10_000;
  private static final double HELD_SECONDS = 20;
  private static final double LEASES_PER_REQUEST = 50;

  /** How many times the rival's cycles an issue asks for. */
  private record Multiples(double free, double locks, double oneLock, double strict) {
    static Multiples of(Service service) {
      return service == Service.ZOOKEEPER
          ? new Multiples(1, 1.5, 50, 1.5)
          : new Multiples(2, 2, 50, 20);
    }
  }

  private final Service service;
  private final boolean three;

  ConsensusSuite(Service service, boolean three) {
    this.service = service;
    this.three = three;
  }

  @Override
  public String name() {
    return three ? service.word + "-" + service.group : service.word;
  }

  @Override
  public String purpose() {
    return (three ? "three servers of " : "a server of ")
        + service.title
        + ", beside "
        + service.rival;
  }

  @Override
  public List<Rival> rivals() {
    PawlRival strict = PawlRival.strict(service.scheme);
    List<Rival> rivals =
        new ArrayList<>(
            List.of(
                PawlRival.passing(service.scheme),
                strict,
                strict.named(FEW),
                PawlRival.sticky(service.scheme),
                service.theirs()));
    rivals.addAll(service.semaphores());
    return rivals;
  }

  @Override
  public List<Contest> contests() {
    Multiples times = Multiples.of(service);
    String rival = service.rival;
    Load crowd = Load.of(100, 1).inEachOf(10);
    List<Contest> contests = new ArrayList<>(locks(times, rival, crowd));
    List<String> semaphores = service.semaphores().stream().map(Rival::name).toList();
    if (!semaphores.isEmpty()) {
      contests.add(
          new Contest(
              "semaphore of " + SharedRivals.PERMITS + ", 2 JVMs × 64 threads",
              Load.of(64, 1).permits(SharedRivals.PERMITS).inEachOf(2),
              semaphores,
              List.of()));
    }
    return contests;
  }

  private static List<Contest> locks(Multiples times, String rival, Load crowd) {
    return List.of(
        new Contest(
            "free lock, 1 thread",
            Load.of(1, 1),
            List.of(PAWL, PawlRival.STICKY, rival),
            List.of(
                Target.timesAtLeast(times.free, PAWL, Metric.CYCLES, rival),
                Target.atLeast(PawlRival.STICKY, Metric.CYCLES, 1_000_000))),
        new Contest(
            "64 locks, 64 threads",
            Load.of(64, 64),
            List.of(PAWL, rival),
            List.of(Target.timesAtLeast(times.locks, PAWL, Metric.CYCLES, rival))),
        new Contest(
            "one lock, 64 threads",
            Load.of(64, 1),
            List.of(PAWL, STRICT, rival),
            List.of(Target.timesAtLeast(times.oneLock, PAWL, Metric.CYCLES, rival))),
        new Contest(
            "one lock, 2 JVMs × 16 threads",
            Load.of(16, 1).inEachOf(2),
            List.of(PAWL, STRICT, rival),
            List.of(
                Target.timesAtLeast(times.strict, STRICT, Metric.CYCLES, rival),
                Target.atMost(STRICT, Metric.JVM_SPREAD, 1.5))),
        new Contest(
            "one lock, 10 JVMs × 100 threads",
            crowd,
            List.of(STRICT, FEW, rival),
            List.of(Target.timesAtMost(1.2, STRICT, Metric.OPERATIONS, FEW)),
            Map.of(FEW, Load.of(10, 1).inEachOf(10))));
  }

  @Override
  public ConsensusGround open(Path folder) {
    return service.start(three);
  }

  @Override
  public List<Section> measure(Settings settings, Consumer<String> progress) {
    try (ConsensusGround ground = service.start(three)) {
      return measure(ground, settings, progress);
    }
  }

  /** On servers that are there already. */
  List<Section> measure(ConsensusGround ground, Settings settings, Consumer<String> progress) {
    List<Section> sections =
        new ArrayList<>(new ContestRunner(this, settings, progress).run(ground));
    sections.addAll(held(ground, settings, progress));
    if (settings.includes(TakeOverContest.TITLE)) {
      sections.add(new TakeOverContest(service, settings).run(name(), ground, progress));
    }
    if (three && settings.includes(LeaderContest.TITLE)) {
      sections.add(
          new LeaderContest(service, settings, LeaderContest.USUAL_SECONDS)
              .run(name(), ground, progress));
    }
    return sections;
  }

  private List<Section> held(ConsensusGround ground, Settings settings, Consumer<String> progress) {
    List<String> notes =
        List.of(
            "leases/command/period: locks × (seconds held / 10 s) / requests meanwhile; not"
                + " measured in less than 20 s",
            service.rival + " does not tell when it renewed");
    return new HeldContest(name(), ground, settings, progress)
        .run(HELD, HELD_SECONDS, List.of(Held.PAWL, service.rival), LEASES_PER_REQUEST, notes);
  }
}
