package io.pawl.bench.micro;

import io.lettuce.core.RedisClient;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.sync.RedisCommands;
import io.pawl.bench.Settings;
import io.pawl.bench.Suite;
import io.pawl.bench.SuiteSource;
import io.pawl.bench.report.Metric;
import io.pawl.bench.report.Numbers;
import io.pawl.bench.report.Sample;
import io.pawl.bench.report.Section;
import io.pawl.bench.report.Side;
import io.pawl.bench.report.Target;
import io.pawl.servers.RedisServer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What the short cuts of the Redis store's scripts save: each script as it is beside the same
 * without one of them, in the server's own time, which a busy client does not change.
 */
public final class ShortCutSuite implements Suite, SuiteSource {

  private static final String WITH = "with the short cut";
  private static final String WITHOUT = "without";
  private static final double WORTH_KEEPING = 0.9;
  private static final int ROUNDS = 5;
  private static final int CALLS_A_SECOND = 5_000;
  private static final Pattern SERVED =
      Pattern.compile("cmdstat_evalsha:calls=(\\d+),usec=(\\d+),");

  @Override
  public List<Suite> suites() {
    return List.of(this);
  }

  @Override
  public String name() {
    return "redis-scripts";
  }

  @Override
  public String purpose() {
    return "each short cut of the scripts on a Redis server, beside the script without it";
  }

  @Override
  public List<Section> measure(Settings settings, Consumer<String> progress) {
    List<Section> sections = new ArrayList<>();
    int calls = (int) Math.ceil(settings.secondsOr(Settings.USUAL_SECONDS) * CALLS_A_SECOND);
    try (RedisServer server = RedisServer.start();
        RedisClient client = RedisClient.create(server.url())) {
      RedisCommands<String, String> redis = client.connect().sync();
      for (ShortCut shortCut : ShortCut.all()) {
        if (settings.includes(shortCut.title())) {
          sections.add(measure(shortCut, calls, redis));
          progress.accept(name() + ": " + shortCut.title());
        }
      }
    }
    return sections;
  }

  private Section measure(ShortCut shortCut, int calls, RedisCommands<String, String> redis) {
    Side with = new Side(WITH, new ArrayList<>());
    Side without = new Side(WITHOUT, new ArrayList<>());
    for (int round = 0; round < ROUNDS; round++) {
      with.forks().add(measure(shortCut, shortCut.script(), calls, redis));
      without.forks().add(measure(shortCut, shortCut.without(), calls, redis));
    }
    return new Section(
        name(),
        shortCut.title(),
        List.of(with, without),
        List.of(Target.timesAtMost(WORTH_KEEPING, WITH, Metric.OPERATION_NANOS, WITHOUT)),
        List.of(
            "usec of cmdstat_evalsha in INFO commandstats, median of "
                + ROUNDS
                + " rounds in turn, "
                + Numbers.show(calls)
                + " calls each"));
  }

  private static Sample measure(
      ShortCut shortCut, String script, int calls, RedisCommands<String, String> redis) {
    redis.flushall();
    String sha = redis.scriptLoad(script);
    ShortCut.Calls way =
        new ShortCut.Calls() {
          @Override
          public void measured(String key, String... arguments) {
            redis.evalsha(sha, ScriptOutputType.MULTI, new String[] {key}, arguments);
          }

          @Override
          public void besides(String other, String key, String... arguments) {
            redis.eval(other, ScriptOutputType.MULTI, new String[] {key}, arguments);
          }
        };
    shortCut.prepare(way);
    shortCut.run(way, calls / 10);
    redis.configResetstat();
    shortCut.run(way, calls);
    Matcher served = SERVED.matcher(redis.info("commandstats"));
    if (!served.find()) {
      throw new IllegalStateException("no evalsha in INFO commandstats");
    }
    double nanos = Double.parseDouble(served.group(2)) * 1e3 / Double.parseDouble(served.group(1));
    return new Sample(Map.of(Metric.OPERATION_NANOS, nanos));
  }
}
