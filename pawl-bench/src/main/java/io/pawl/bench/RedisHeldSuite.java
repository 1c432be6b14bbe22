package io.pawl.bench;

import io.pawl.Stores;
import io.pawl.servers.RedisServer;
import io.pawl.spi.Inspectable;
import io.pawl.spi.LockStore;
import io.pawl.spi.StoreUrl;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Locks held for long: what renewal asks of the server and costs the client. */
public final class RedisHeldSuite implements Suite {

  private static final double USUAL_SECONDS = 60;
  private static final double PERIOD_SECONDS = 10;
  private static final long PATIENCE_MILLIS = 300_000;

  /** For a try: no contest has more locks than this. */
  private static final int MOST_LOCKS = Integer.getInteger("pawl.bench.locks", 100_000);

  private static final Pattern SCRIPTS = Pattern.compile("cmdstat_(?:eval|evalsha):calls=(\\d+)");
  private static final Pattern COMMANDS =
      Pattern.compile("cmdstat_(?:eval|evalsha|ping):calls=(\\d+)");

  @Override
  public String name() {
    return "redis-held";
  }

  @Override
  public String purpose() {
    return "100,000 held locks on a Redis server, and 10,000 beside Redisson";
  }

  @Override
  public List<Section> measure(Settings settings, Consumer<String> progress) {
    List<Section> sections = new ArrayList<>();
    try (RedisServer server = RedisServer.start()) {
      Run run = new Run(server, settings, progress);
      run.contest(100_000, List.of(Held.PAWL), sections);
      run.contest(10_000, List.of(Held.PAWL, Held.REDISSON), sections);
    }
    return sections;
  }

  private record Run(RedisServer server, Settings settings, Consumer<String> progress) {

    void contest(int most, List<String> names, List<Section> sections) {
      int locks = Math.min(most, MOST_LOCKS);
      double seconds = settings.secondsOr(USUAL_SECONDS);
      String title =
          String.format(Locale.ROOT, "%,d locks held for %s s", locks, Numbers.show(seconds));
      if (!settings.includes(title)) {
        return;
      }
      List<Side> sides = new ArrayList<>();
      names.forEach(name -> sides.add(new Side(name, new ArrayList<>())));
      for (int fork = 0; fork < settings.forks(); fork++) {
        for (Side side : sides) {
          side.forks().add(hold(side.name(), locks, Math.round(seconds * 1e3)));
          progress.accept("redis-held: " + title + ": " + side.name() + ", fork " + (fork + 1));
        }
      }
      sections.add(
          new Section("redis-held", title, Metric.CPU_PER_MINUTE, sides, targets(), notes()));
    }

    private static List<Target> targets() {
      return List.of(
          Target.atMost(Held.PAWL, Metric.LOST, 0),
          Target.atMost(Held.PAWL, Metric.INVALID, 0),
          Target.atMost(Held.PAWL, Metric.LEFT, 0),
          Target.atMost(Held.PAWL, Metric.RENEWAL_AGE, 1.5 * PERIOD_SECONDS),
          Target.atLeast(Held.PAWL, Metric.LEASES_PER_COMMAND, 200));
    }

    private static List<String> notes() {
      return List.of(
          "leases/command/period: locks × (seconds held / 10 s) / scripts called meanwhile;"
              + " not measured in less than 20 s",
          "renewed ≤ s ago: of any lease, looked at every 5 s; a renewal left out would make it"
              + " 20; Redisson does not tell",
          "commands/s: EVAL, EVALSHA and PING; heap: the client's, after a collection,"
              + " with all locks held");
    }

    private Sample hold(String side, int locks, long millis) {
      server.call("FLUSHALL");
      List<String> arguments =
          List.of(side, server.url(), Integer.toString(locks), Long.toString(millis));
      try (Child child =
          new Child(
              side, settings.jvmArguments(), Child.ownClassPath(), HeldFork.class, arguments)) {
        Map<Metric, Double> figures = new EnumMap<>(Metric.class);
        figures.put(Metric.TAKING_SECONDS, child.hear("ready", PATIENCE_MILLIS)[0]);
        pause(Math.round(settings.warmUpSeconds() * 1e3));

        String before = server.text("INFO", "commandstats");
        long from = System.nanoTime();
        child.goOn();
        double[] held = child.hear("held", millis + PATIENCE_MILLIS);
        String after = server.text("INFO", "commandstats");
        double seconds = (System.nanoTime() - from) / 1e9;
        long scripts = calls(SCRIPTS, after) - calls(SCRIPTS, before);
        long commands = calls(COMMANDS, after) - calls(COMMANDS, before);
        figures.put(Metric.CPU_PER_MINUTE, held[0]);
        figures.put(Metric.RENEWAL_AGE, held[1]);
        figures.put(Metric.COMMANDS, commands / seconds);
        if (seconds >= 2 * PERIOD_SECONDS) {
          if (scripts == 0) {
            throw new BenchException(side + " has renewed nothing in " + seconds + " s");
          }
          figures.put(Metric.LEASES_PER_COMMAND, locks * (seconds / PERIOD_SECONDS) / scripts);
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
        long left = side.equals(Held.PAWL) ? claims(locks) : Long.parseLong(server.text("DBSIZE"));
        figures.put(Metric.LEFT, (double) left);
        if (left > 0) {
          throw new BenchException(side + " has left " + left + " locks held after its close");
        }
        return new Sample(figures);
      }
    }

    /** Locks that somebody holds or waits for, as Pawl's own list has them. */
    private int claims(int limit) {
      try (LockStore store = Stores.open(StoreUrl.parse(server.url()))) {
        return ((Inspectable) store)
            .list(limit)
            .toCompletableFuture()
            .orTimeout(PATIENCE_MILLIS, TimeUnit.MILLISECONDS)
            .join()
            .size();
      }
    }

    private static long calls(Pattern commands, String stats) {
      Matcher calls = commands.matcher(stats);
      long sum = 0;
      while (calls.find()) {
        sum += Long.parseLong(calls.group(1));
      }
      return sum;
    }

    private static void pause(long millis) {
      try {
        Thread.sleep(millis);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new BenchException("interrupted", e);
      }
    }
  }
}
