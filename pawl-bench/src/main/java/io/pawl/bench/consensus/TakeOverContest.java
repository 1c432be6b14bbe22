package io.pawl.bench.consensus;

import io.pawl.bench.Settings;
import io.pawl.bench.report.Metric;
import io.pawl.bench.report.Sample;
import io.pawl.bench.report.Section;
import io.pawl.bench.report.Side;
import io.pawl.bench.report.Target;
import io.pawl.bench.rival.PawlRival;
import io.pawl.servers.fault.Child;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** How long a lock stays taken when the JVM of its holder is killed. */
final class TakeOverContest {

  static final String TITLE = "take-over after kill -9 of the holder";

  private static final long LEASE_MILLIS = 4_000;
  private static final long MOST_MORE_MILLIS = 200;

  /** For the next one to stand in line. */
  private static final long JOINING_MILLIS = 1_000;

  private static final long PATIENCE_MILLIS = 120_000;

  private final Service service;
  private final Settings settings;

  TakeOverContest(Service service, Settings settings) {
    this.service = service;
    this.settings = settings;
  }

  Section run(String suite, ConsensusGround ground, Consumer<String> progress) {
    List<Side> sides = new ArrayList<>();
    for (String name : List.of(PawlRival.PASSING, service.rival)) {
      List<Sample> rounds = new ArrayList<>();
      for (int round = 0; round < settings.forks(); round++) {
        rounds.add(takeOver(name, ground.fresh()));
        progress.accept(suite + ", " + TITLE + ", fork " + (round + 1) + ": " + name);
      }
      sides.add(new Side(name, rounds));
    }
    return new Section(
        suite,
        TITLE + ", lease of " + LEASE_MILLIS / 1000 + " s",
        sides,
        List.of(
            Target.atMost(
                PawlRival.PASSING, Metric.TAKE_OVER_MAX, LEASE_MILLIS + MOST_MORE_MILLIS)),
        List.of(
            "from the signal until the next JVM has the lock; Curator's session and jetcd's lease"
                + " are as long as Pawl's lease"));
  }

  private Sample takeOver(String side, String address) {
    try (Child holder = child(side, address)) {
      holder.hearNanos("holds", PATIENCE_MILLIS);
      try (Child next = child(side, address)) {
        next.hear("asks", PATIENCE_MILLIS);
        Settings.pause(JOINING_MILLIS);
        settings.pauseToWarmUp();
        long from = System.nanoTime();
        holder.close();
        double millis = (next.hearNanos("holds", PATIENCE_MILLIS) - from) / 1e6;
        next.goOn();
        next.awaitEnd(PATIENCE_MILLIS);
        return new Sample(Map.of(Metric.TAKE_OVER, millis, Metric.TAKE_OVER_MAX, millis));
      }
    }
  }

  private Child child(String side, String address) {
    return new Child(
        side,
        settings.jvmArguments(),
        Child.ownClassPath(),
        TakeOverFork.class,
        List.of(service.name(), side, address, Long.toString(LEASE_MILLIS)));
  }
}
