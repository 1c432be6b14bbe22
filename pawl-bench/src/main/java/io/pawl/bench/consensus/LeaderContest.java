package io.pawl.bench.consensus;

import io.pawl.bench.Settings;
import io.pawl.bench.report.Metric;
import io.pawl.bench.report.Sample;
import io.pawl.bench.report.Section;
import io.pawl.bench.report.Side;
import io.pawl.bench.rival.PawlRival;
import io.pawl.servers.fault.Child;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** How long nobody gets a lock when the leader of three is killed. */
final class LeaderContest {

  static final String TITLE = "the leader is killed";

  /** By then a new one leads, and every client has found it. */
  static final double USUAL_SECONDS = 20;

  private static final long PATIENCE_MILLIS = 60_000;

  private final Service service;
  private final Settings settings;
  private final double seconds;

  /**
   * @param seconds to go on for after the leader's death
   */
  LeaderContest(Service service, Settings settings, double seconds) {
    this.service = service;
    this.settings = settings;
    this.seconds = seconds;
  }

  Section run(String suite, ConsensusGround ground, Consumer<String> progress) {
    List<Side> sides = new ArrayList<>();
    for (String name : List.of(PawlRival.PASSING, service.rival)) {
      List<Sample> rounds = new ArrayList<>();
      for (int round = 0; round < settings.forks(); round++) {
        rounds.add(withoutLeader(name, ground));
        progress.accept(suite + ", " + TITLE + ", fork " + (round + 1) + ": " + name);
      }
      sides.add(new Side(name, rounds));
    }
    return new Section(
        suite,
        TITLE,
        sides,
        List.of(),
        List.of(
            "four clients of one JVM, each with a lock of its own: the longest time in which none"
                + " got its lock, and in which one did not; calls that failed are made again after"
                + " 5 ms"));
  }

  private Sample withoutLeader(String side, ConsensusGround ground) {
    List<String> arguments = List.of(service.name(), side, withUsualTimeout(ground.fresh()));
    try (Child child =
        new Child(
            side, settings.jvmArguments(), Child.ownClassPath(), LeaderFork.class, arguments)) {
      child.hear("ready", PATIENCE_MILLIS);
      settings.pauseToWarmUp();
      child.goOn();
      ground.killLeader();
      Settings.pause(Math.round(seconds * 1e3));
      child.goOn();
      double[] gaps = child.hear("gaps", PATIENCE_MILLIS);
      return new Sample(
          Map.of(Metric.NOBODY, gaps[0], Metric.ONE_CLIENT, gaps[1], Metric.FAILED, gaps[2]));
    } finally {
      ground.mend();
    }
  }

  /** The longer one of a ground is for a thousand clients at once. */
  private static String withUsualTimeout(String address) {
    int query = address.indexOf('?');
    return query < 0 ? address : address.substring(0, query);
  }
}
