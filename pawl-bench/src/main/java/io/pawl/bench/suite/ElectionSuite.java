package io.pawl.bench.suite;

import io.pawl.bench.BenchException;
import io.pawl.bench.Settings;
import io.pawl.bench.Suite;
import io.pawl.bench.contest.Folders;
import io.pawl.bench.report.Metric;
import io.pawl.bench.report.Numbers;
import io.pawl.bench.report.Sample;
import io.pawl.bench.report.Section;
import io.pawl.bench.report.Side;
import io.pawl.bench.report.Target;
import io.pawl.bench.rival.PawlRival;
import io.pawl.servers.RedisServer;
import io.pawl.servers.fault.Child;
import io.pawl.spi.Inspectable;
import io.pawl.spi.LockStore;
import io.pawl.spi.StoreUrl;
import io.pawl.spi.Stores;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * How long nobody leads: from the end of the leader's JVM until the body of another JVM's candidate
 * runs. One that stands in the queue, for as long as the warm-up takes at least, takes over in each
 * round, and a new JVM stands behind it.
 */
final class ElectionSuite implements Suite {

  private static final String PAWL = PawlRival.PASSING;
  private static final long LEASE_MILLIS = 2_000;
  private static final double AFTER_A_KILL_MILLIS = LEASE_MILLIS + 200;
  private static final double AFTER_A_CLOSE_MILLIS = 50;
  private static final long PATIENCE_MILLIS = 60_000;

  /** How a leader ends; answers when that began, by {@link System#nanoTime}. */
  private enum End {
    KILL("kill -9 of the leader", AFTER_A_KILL_MILLIS) {
      @Override
      long of(Child leader) {
        long from = System.nanoTime();
        leader.close();
        return from;
      }
    },
    CLOSE("clean close of the leader", AFTER_A_CLOSE_MILLIS) {
      @Override
      long of(Child leader) {
        leader.goOn();
        return leader.hearNanos("closes", PATIENCE_MILLIS);
      }
    };

    final String title;
    final double mostMillis;

    End(String title, double mostMillis) {
      this.title = title;
      this.mostMillis = mostMillis;
    }

    abstract long of(Child leader);
  }

  @Override
  public String name() {
    return "election";
  }

  @Override
  public String purpose() {
    return "from the leader's end until another JVM leads, on Redis and SQLite";
  }

  @Override
  public List<Section> measure(Settings settings, Consumer<String> progress) {
    List<Section> sections = new ArrayList<>();
    for (End end : End.values()) {
      String redis = "Redis, " + end.title;
      if (settings.includes(redis)) {
        try (RedisServer server = RedisServer.start()) {
          sections.add(measure(redis, server.url(), end, settings, progress));
        }
      }
      String sqlite = "SQLite, " + end.title;
      if (settings.includes(sqlite)) {
        Path folder = Folders.create(settings.folder(), name());
        try {
          String url = "sqlite:" + folder.resolve("locks.db");
          sections.add(measure(sqlite, url, end, settings, progress));
        } finally {
          Folders.delete(folder);
        }
      }
    }
    return sections;
  }

  private Section measure(
      String title, String url, End end, Settings settings, Consumer<String> progress) {
    List<Sample> rounds = new ArrayList<>();
    try (LockStore store = Stores.open(StoreUrl.parse(url))) {
      Child leader = candidate(url, settings);
      Child next = leader;
      try {
        leader.hear("leads", PATIENCE_MILLIS);
        for (int round = 0; round < settings.forks(); round++) {
          next = candidate(url, settings);
          awaitOneInLine((Inspectable) store);
          settings.pauseToWarmUp();
          long from = end.of(leader);
          double millis = (next.hearNanos("leads", PATIENCE_MILLIS) - from) / 1e6;
          leader.close();
          leader = next;
          rounds.add(new Sample(Map.of(Metric.TAKE_OVER, millis, Metric.TAKE_OVER_MAX, millis)));
          progress.accept(title + ", round " + (round + 1) + ": " + Numbers.show(millis) + " ms");
        }
      } finally {
        leader.close();
        next.close();
      }
    }
    return new Section(
        name(),
        title + ", lease of " + LEASE_MILLIS / 1000 + " s",
        List.of(new Side(PAWL, rounds)),
        List.of(Target.atMost(PAWL, Metric.TAKE_OVER_MAX, end.mostMillis)),
        List.of(
            "one fork is one round; from the signal, or from just before Pawl.close, until the"
                + " other JVM's body runs"));
  }

  private static Child candidate(String url, Settings settings) {
    return new Child(
        "a candidate",
        settings.jvmArguments(),
        Child.ownClassPath(),
        ElectionFork.class,
        List.of(url, Long.toString(LEASE_MILLIS)));
  }

  private static void awaitOneInLine(Inspectable store) {
    long giveUpAt = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(PATIENCE_MILLIS);
    while (store
        .show(ElectionFork.ELECTION)
        .toCompletableFuture()
        .join()
        .map(view -> view.waiters().isEmpty())
        .orElse(true)) {
      if (System.nanoTime() - giveUpAt > 0) {
        throw new BenchException("no candidate stands in line");
      }
      Settings.pause(20);
    }
  }
}
