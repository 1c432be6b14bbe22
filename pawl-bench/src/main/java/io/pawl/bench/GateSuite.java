package io.pawl.bench;

import io.pawl.servers.RedisServer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/** Locks through Redis before MySQL, beside MySQL alone. */
public final class GateSuite implements ContestSuite {

  private static final String GATE = PawlRival.STRICT;
  private static final String ALONE = "Pawl, MySQL alone";
  private static final String PAIR = GuardedUpdate.NAME;

  @Override
  public String name() {
    return "gate";
  }

  @Override
  public String purpose() {
    return "Redis before MySQL, beside MySQL alone";
  }

  @Override
  public List<Rival> rivals() {
    return List.of(
        PawlRival.strict("gate"),
        new OnTruth(ALONE, PawlRival.strict("jdbc:mysql")),
        new OnTruth(PAIR, new GuardedUpdate(SqlFlavour.MYSQL)));
  }

  /** The pair is two commits: a hand-off is to take at most 1.5 times as long. */
  @Override
  public List<Contest> contests() {
    return List.of(
        new Contest("free lock, 1 thread", Load.of(1, 1), List.of(GATE, ALONE, PAIR), List.of()),
        new Contest(
            "one lock, 2 JVMs × 16 threads",
            Load.of(16, 1).inEachOf(2),
            List.of(GATE, ALONE),
            List.of(Target.timesAtMost(1, GATE, Metric.OPERATIONS, ALONE))));
  }

  @Override
  public Ground open(Path folder) {
    RedisServer redis = RedisServer.start();
    try {
      return new GateGround(redis, new SqlGround(SqlFlavour.MYSQL));
    } catch (RuntimeException e) {
      redis.close();
      throw e;
    }
  }

  /** Counts what reaches the truth. */
  private record GateGround(RedisServer redis, SqlGround truth) implements Ground {

    @Override
    public String fresh() {
      redis.call("FLUSHALL");
      return "gate:" + redis.url() + "|" + truth.fresh();
    }

    @Override
    public OptionalLong operations() {
      return truth.operations();
    }

    @Override
    public List<String> notes() {
      List<String> notes = new ArrayList<>(truth.notes());
      notes.add("store ops are MySQL's alone; Redis with its defaults");
      return notes;
    }

    @Override
    public void close() {
      redis.close();
      truth.close();
    }
  }

  /** A rival that goes round the gate. */
  private record OnTruth(String name, Rival rival) implements Rival {

    @Override
    public String missing() {
      return rival.missing();
    }

    @Override
    public Client connect(String address) {
      return rival.connect(address.substring(address.indexOf('|') + 1));
    }
  }
}
