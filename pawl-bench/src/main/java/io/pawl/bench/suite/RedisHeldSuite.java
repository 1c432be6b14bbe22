package io.pawl.bench.suite;

import io.pawl.bench.Settings;
import io.pawl.bench.Suite;
import io.pawl.bench.contest.Held;
import io.pawl.bench.contest.HeldContest;
import io.pawl.bench.report.Section;
import io.pawl.servers.RedisServer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Locks held for long on a Redis server: up to a million, and 10,000 beside Redisson. */
final class RedisHeldSuite implements Suite {

  private static final double LEASES_PER_SCRIPT = 200;

  private static final List<String> NOTES =
      List.of(
          "leases/command/period: locks × (seconds held / 10 s) / scripts called meanwhile;"
              + " not measured in less than 20 s",
          "Redisson does not tell when it renewed; commands/s: EVAL, EVALSHA and PING");

  @Override
  public String name() {
    return "redis-held";
  }

  @Override
  public String purpose() {
    return "up to 1,000,000 held locks on a Redis server, and 10,000 beside Redisson";
  }

  @Override
  public List<Section> measure(Settings settings, Consumer<String> progress) {
    List<Section> sections = new ArrayList<>();
    try (RedisServer server = RedisServer.start()) {
      HeldContest held = new HeldContest(name(), new Counted(server), settings, progress);
      sections.addAll(held.run(100_000, List.of(Held.PAWL), LEASES_PER_SCRIPT, NOTES));
      sections.addAll(
          held.run(10_000, List.of(Held.PAWL, Held.REDISSON), LEASES_PER_SCRIPT, NOTES));
      sections.addAll(held.run(1_000_000, List.of(Held.PAWL), LEASES_PER_SCRIPT, NOTES));
    }
    return sections;
  }

  private record Counted(RedisServer server) implements HeldContest.Server {

    private static final Pattern SCRIPTS = Pattern.compile("cmdstat_(?:eval|evalsha):calls=(\\d+)");
    private static final Pattern COMMANDS =
        Pattern.compile("cmdstat_(?:eval|evalsha|ping):calls=(\\d+)");

    @Override
    public String fresh() {
      server.call("FLUSHALL");
      return server.url();
    }

    @Override
    public long renewals() {
      return calls(SCRIPTS);
    }

    @Override
    public long commands() {
      return calls(COMMANDS);
    }

    /** Locks alone: Redisson also leaves a latch of a few seconds for each unlock that it made. */
    @Override
    public long left(String side) {
      return server.list("KEYS", Held.NAMES + "*").size();
    }

    private long calls(Pattern commands) {
      Matcher calls = commands.matcher(server.text("INFO", "commandstats"));
      long sum = 0;
      while (calls.find()) {
        sum += Long.parseLong(calls.group(1));
      }
      return sum;
    }
  }
}
