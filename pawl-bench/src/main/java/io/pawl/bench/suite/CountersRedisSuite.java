package io.pawl.bench.suite;

import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import io.pawl.Counter;
import io.pawl.Pawl;
import io.pawl.bench.contest.Contest;
import io.pawl.bench.contest.ContestSuite;
import io.pawl.bench.contest.ExclusionViolation;
import io.pawl.bench.contest.Load;
import io.pawl.bench.report.Metric;
import io.pawl.bench.report.Target;
import io.pawl.bench.rival.RedissonLocks;
import io.pawl.bench.rival.Rival;
import io.pawl.bench.rival.TakingRival;
import io.pawl.counter.OperationId;
import io.pawl.counter.Update;
import io.pawl.servers.RedisServer;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import org.redisson.api.RAtomicLong;
import org.redisson.api.RedissonClient;

/**
 * One counter on a Redis server: takes with an id, a floor and a ledger, beside Redisson's and
 * Lettuce's bare DECR. After each run the counter is read without its client: all that was taken
 * must be missing from it, once.
 */
final class CountersRedisSuite implements ContestSuite {

  static final String PAWL = "Pawl tryTake";
  static final String REDISSON = "Redisson RAtomicLong";
  static final String LETTUCE = "bare Lettuce DECR";

  private static final String COUNTER = "bench";
  private static final String ID_OF_STOCK = "stock";
  private static final long STOCK = 1_000_000_000_000L;

  @Override
  public String name() {
    return "counters-redis";
  }

  @Override
  public String purpose() {
    return "takes from one counter on a Redis server, beside Redisson's and Lettuce's DECR";
  }

  @Override
  public List<Rival> rivals() {
    return List.of(
        new TakingRival(PAWL, CountersRedisSuite::pawl),
        new TakingRival(REDISSON, CountersRedisSuite::redisson),
        new TakingRival(LETTUCE, CountersRedisSuite::lettuce));
  }

  @Override
  public List<Contest> contests() {
    List<String> all = List.of(PAWL, REDISSON, LETTUCE);
    return List.of(
        new Contest("one counter, 1 thread", Load.of(1, 1).writing(), all, List.of()),
        new Contest(
            "one counter, 64 threads",
            Load.of(64, 64).writing(),
            all,
            List.of(Target.timesAtLeast(1, PAWL, Metric.CYCLES, REDISSON))),
        new Contest(
            "one counter, 2 JVMs × 16 threads",
            Load.of(16, 32).inEachOf(2).writing(),
            all,
            List.of()));
  }

  private static TakingRival.Taker pawl(String address) {
    Pawl pawl = Pawl.connect(address);
    Counter counter = pawl.counter(COUNTER);
    counter.update(Update.set(STOCK), OperationId.of(ID_OF_STOCK));
    return new TakingRival.Taker() {
      @Override
      public boolean takeOne(String id) {
        return counter.tryTake(1, OperationId.of(id)).isApplied();
      }

      @Override
      public void close() {
        pawl.close();
      }
    };
  }

  private static TakingRival.Taker redisson(String address) {
    RedissonClient redisson = RedissonLocks.connected(address);
    RAtomicLong counter = redisson.getAtomicLong(COUNTER);
    return new TakingRival.Taker() {
      @Override
      public boolean takeOne(String id) {
        return counter.decrementAndGet() < 0;
      }

      @Override
      public void close() {
        redisson.shutdown();
      }
    };
  }

  private static TakingRival.Taker lettuce(String address) {
    RedisClient redis = RedisClient.create(address);
    StatefulRedisConnection<String, String> connection = redis.connect();
    RedisCommands<String, String> commands = connection.sync();
    return new TakingRival.Taker() {
      @Override
      public boolean takeOne(String id) {
        return commands.decr(COUNTER) < 0;
      }

      @Override
      public void close() {
        connection.close();
        redis.shutdown();
      }
    };
  }

  /** Nothing to write: the counter itself is what is checked. */
  @Override
  public Resource resource(String address) {
    return lock -> {};
  }

  @Override
  public Ground open(Path folder) {
    return new CounterGround(RedisServer.start());
  }

  /** A server whose one counter is read as it is stored. */
  record CounterGround(RedisServer server, RedisSuite.ServerGround plain) implements Ground {

    CounterGround(RedisServer server) {
      this(server, new RedisSuite.ServerGround(server));
    }

    @Override
    public String fresh() {
      return plain.fresh();
    }

    @Override
    public OptionalLong operations() {
      return plain.operations();
    }

    @Override
    public void checkRows(String address, long writes) {
      String key = "pawl:counter:" + COUNTER;
      boolean ours = Objects.equals(server.call("EXISTS", key), 1L);
      long taken =
          ours
              ? STOCK - Long.parseLong(server.text("HGET", key, ".").split(" ", 2)[0])
              : -Long.parseLong(server.text("GET", COUNTER));
      if (taken != writes) {
        throw new ExclusionViolation("of " + writes + " takes the counter has seen " + taken);
      }
      // the header, and for each id its entry and its line
      if (ours && !Objects.equals(server.call("HLEN", key), 1 + 2 * (writes + 1))) {
        throw new ExclusionViolation(
            "the ledger has not one line for each of " + writes + " takes");
      }
    }

    @Override
    public void close() {
      plain.close();
    }
  }
}
