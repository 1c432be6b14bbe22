package io.pawl.bench.suite;

import io.pawl.bench.contest.Contest;
import io.pawl.bench.contest.ContestSuite;
import io.pawl.bench.contest.Load;
import io.pawl.bench.report.Metric;
import io.pawl.bench.report.Target;
import io.pawl.bench.rival.LettucePair;
import io.pawl.bench.rival.LettuceRing;
import io.pawl.bench.rival.PawlRival;
import io.pawl.bench.rival.RedissonLocks;
import io.pawl.bench.rival.Rival;
import io.pawl.bench.rival.SharedTrips;
import io.pawl.bench.rival.SpringRedisLocks;
import io.pawl.servers.RedisServer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** One Redis server of our own: Pawl beside Redisson and Spring, with bare Lettuce as the limit. */
final class RedisSuite implements ContestSuite {

  private static final String RLOCK = RedissonLocks.Kind.PLAIN.title;
  private static final String FAIR = RedissonLocks.Kind.FAIR.title;
  private static final String SPIN = RedissonLocks.Kind.SPIN.title;
  private static final String PAWL = PawlRival.PASSING;
  private static final String STRICT = PawlRival.STRICT;
  private static final String STICKY = PawlRival.STICKY;
  private static final String LATE = PawlRival.LATE;
  private static final String LETTUCE = LettucePair.NAME;
  private static final String SPRING = SpringRedisLocks.NAME;
  private static final String RING = LettuceRing.NAME;
  private static final String RING_APART = LettuceRing.APART;

  /** One that others wait for may stay with its client for so long. */
  private static final Duration SHORT_RUN = Duration.ofMillis(5);

  private static final String RUNS = "Pawl, sticky for 5 ms";

  @Override
  public String name() {
    return "redis";
  }

  @Override
  public String purpose() {
    return "a Redis server, beside Redisson, Spring Integration and bare Lettuce";
  }

  @Override
  public List<Rival> rivals() {
    return List.of(
        PawlRival.passing("redis"),
        PawlRival.strict("redis"),
        PawlRival.sticky("redis"),
        PawlRival.late("redis"),
        new RedissonLocks(RedissonLocks.Kind.PLAIN),
        new RedissonLocks(RedissonLocks.Kind.FAIR),
        new RedissonLocks(RedissonLocks.Kind.SPIN),
        PawlRival.sticky("redis", SHORT_RUN).named(RUNS),
        new LettucePair(),
        new LettuceRing(false),
        new LettuceRing(true),
        new SharedTrips(),
        new SpringRedisLocks());
  }

  @Override
  public List<Contest> contests() {
    return List.of(
        new Contest(
            "free lock, 1 thread",
            Load.of(1, 1),
            List.of(PAWL, STICKY, LATE, RLOCK, FAIR, SPRING, LETTUCE),
            List.of(
                OneLock.A_MILLION_STICKY,
                Target.timesAtLeast(1.7, LATE, Metric.CYCLES, LETTUCE),
                Target.timesAtLeast(1.9, LATE, Metric.CYCLES, RLOCK),
                Target.timesAtLeast(0.9, PAWL, Metric.CYCLES, LETTUCE),
                Target.timesAtLeast(1.5, PAWL, Metric.CYCLES, RLOCK),
                Target.timesAtMost(0.5, PAWL, Metric.P50, RLOCK),
                Target.atLeast(PAWL, Metric.OPERATIONS, 2),
                Target.atMost(PAWL, Metric.OPERATIONS, 2))),
        new Contest(
            "64 locks, 64 threads",
            Load.of(64, 64),
            List.of(PAWL, LATE, RLOCK, SPRING, LETTUCE, SharedTrips.NAME),
            List.of(
                Target.timesAtLeast(1, PAWL, Metric.CYCLES, LETTUCE),
                Target.timesAtLeast(3.3, PAWL, Metric.CYCLES, RLOCK))),
        new Contest(
            "one lock, 64 threads",
            Load.of(64, 1),
            List.of(PAWL, STRICT, RLOCK, FAIR, SPIN, SPRING),
            List.of(
                Target.timesAtLeast(50, PAWL, Metric.CYCLES, RLOCK),
                Target.timesAtMost(1, PAWL, Metric.P99, RLOCK),
                Target.timesAtLeast(3, STRICT, Metric.CYCLES, RLOCK),
                Target.timesAtLeast(8, STRICT, Metric.CYCLES, FAIR))),
        new Contest(
            "one lock, 2 JVMs × 16 threads",
            Load.of(16, 1).inEachOf(2),
            List.of(PAWL, STRICT, RLOCK, FAIR, SPRING),
            List.of(
                Target.timesAtLeast(10, PAWL, Metric.CYCLES, RLOCK),
                Target.timesAtLeast(3.5, STRICT, Metric.CYCLES, RLOCK),
                Target.timesAtLeast(10, STRICT, Metric.CYCLES, FAIR),
                Target.atMost(PAWL, Metric.JVM_SPREAD, 1.5),
                Target.atMost(STRICT, Metric.JVM_SPREAD, 1.5))),
        new Contest(
            "one lock, 4 JVMs × 1 thread",
            Load.of(1, 1).inEachOf(4),
            List.of(PAWL, LATE, RUNS, RLOCK, FAIR, SPRING, RING, RING_APART),
            List.of(
                Target.timesAtLeast(3.5, PAWL, Metric.CYCLES, RLOCK),
                Target.timesAtLeast(10, PAWL, Metric.CYCLES, FAIR))));
  }

  @Override
  public Ground open(Path folder) {
    return new ServerGround(RedisServer.start());
  }

  record ServerGround(RedisServer server) implements Ground {

    private static final int SCRIPTS = 500;

    private static final String LEAST_LOCK =
        "redis.call('set', KEYS[1], ARGV[1], 'nx', 'px', 30000) return redis.call('del', KEYS[1])";

    private static final Pattern EVAL_MICROS =
        Pattern.compile("cmdstat_eval:.*usec_per_call=([0-9.]+)");

    private static final Pattern CALLS =
        Pattern.compile(
            "cmdstat_(?:eval|evalsha|fcall|decr|s?publish|[sp]?(?:un)?subscribe)"
                + ":calls=(\\d+).*failed_calls=(\\d+)");

    @Override
    public String fresh() {
      server.call("FLUSHALL");
      return server.url();
    }

    /**
     * Scripts called, messages published, subscriptions made and dropped; not a script that the
     * server had to be sent first, which fails once. Redis counts the commands inside of scripts as
     * well, so that plain ones, such as bare Lettuce's SET, cannot be told; DECR is in none of
     * ours.
     */
    @Override
    public OptionalLong operations() {
      Matcher calls = CALLS.matcher(server.text("INFO", "commandstats"));
      long sum = 0;
      while (calls.find()) {
        sum += Long.parseLong(calls.group(1)) - Long.parseLong(calls.group(2));
      }
      return OptionalLong.of(sum);
    }

    @Override
    public OptionalLong cpuNanos() {
      return server.cpuNanos();
    }

    /** Of a script that does what the least lock does, by the server's own clock. */
    @Override
    public List<String> floors() {
      server.call("CONFIG", "RESETSTAT");
      for (int i = 0; i < SCRIPTS; i++) {
        server.call("EVAL", LEAST_LOCK, "1", "floor", "owner");
      }
      Matcher eval = EVAL_MICROS.matcher(server.text("INFO", "commandstats"));
      return eval.find()
          ? List.of(
              "floor: a script that sets a key unless it is there and deletes it takes the server "
                  + eval.group(1)
                  + " µs")
          : List.of();
    }

    @Override
    public void close() {
      server.close();
    }
  }
}
