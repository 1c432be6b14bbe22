package io.pawl.bench.suite;

import io.pawl.Counter;
import io.pawl.Pawl;
import io.pawl.bench.Settings;
import io.pawl.bench.contest.Contest;
import io.pawl.bench.contest.ContestRunner;
import io.pawl.bench.contest.ContestSuite;
import io.pawl.bench.contest.ExclusionViolation;
import io.pawl.bench.contest.Load;
import io.pawl.bench.report.Metric;
import io.pawl.bench.report.Section;
import io.pawl.bench.report.Target;
import io.pawl.bench.rival.GuardedUpdate;
import io.pawl.bench.rival.PawlRival;
import io.pawl.bench.rival.Rival;
import io.pawl.bench.rival.SqlFlavour;
import io.pawl.bench.rival.TakingRival;
import io.pawl.counter.OperationId;
import io.pawl.counter.Update;
import io.pawl.servers.RedisServer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.function.Consumer;

/**
 * Redis before MySQL, beside MySQL alone: locks, refusals of what is sold out, and a {@link
 * SaleContest}.
 */
final class GateSuite implements ContestSuite {

  private static final String GATE = PawlRival.STRICT;
  private static final String ALONE = "Pawl, MySQL alone";
  private static final String PAIR = GuardedUpdate.NAME;
  private static final String REFUSES = "Pawl tryTake";
  private static final String REFUSES_ALONE = "Pawl tryTake, MySQL alone";

  private static final int ITEMS = 100_000;

  @Override
  public String name() {
    return "gate";
  }

  @Override
  public String purpose() {
    return "Redis before MySQL, beside MySQL alone: locks, refusals, a sale";
  }

  @Override
  public List<Rival> rivals() {
    TakingRival refuses = new TakingRival(REFUSES, GateSuite::soldOut);
    return List.of(
        PawlRival.strict("gate"),
        new OnTruth(ALONE, PawlRival.strict("jdbc:mysql")),
        new OnTruth(PAIR, new GuardedUpdate(SqlFlavour.MYSQL)),
        refuses,
        new OnTruth(REFUSES_ALONE, refuses));
  }

  /**
   * From one holder's release to the next grant there are two commits, and so there are between two
   * turns of one thread with a guarded UPDATE pair. A hand-off may take 1.5 times as long.
   */
  @Override
  public List<Contest> contests() {
    Load free = Load.of(1, 1).handingOff();
    List<String> refusing = List.of(REFUSES, REFUSES_ALONE);
    List<Target> enough = List.of(Target.atLeast(REFUSES, Metric.CYCLES, 100_000));
    return List.of(
        new Contest("free lock, 1 thread", free, List.of(GATE, ALONE, PAIR), List.of()),
        new Contest(
            "one lock, 2 JVMs × 16 threads",
            Load.of(16, 1).inEachOf(2).handingOff(),
            List.of(GATE, ALONE, PAIR),
            List.of(
                Target.timesAtMost(1.5, GATE, Metric.HAND_OFF_P50, PAIR)
                    .besideIts(Metric.ANY_HAND_OFF_P50),
                Target.timesAtMost(1.5, GATE, Metric.ANY_HAND_OFF_P50, PAIR),
                Target.timesAtMost(1, GATE, Metric.OPERATIONS, ALONE)),
            Map.of(PAIR, free)),
        new Contest("sold out, 1 thread", Load.of(1, 1), refusing, enough),
        new Contest("sold out, 16 threads", Load.of(16, 16), refusing, enough));
  }

  /** Each cycle is a refusal. */
  private static TakingRival.Taker soldOut(String address) {
    Pawl pawl = Pawl.connect(address);
    Counter counter = pawl.counter("sold-out");
    counter.update(Update.set(1), OperationId.of("stock"));
    counter.tryTake(1, OperationId.of("last"));
    return new TakingRival.Taker() {
      @Override
      public boolean takeOne(String id) {
        if (counter.tryTake(1).isApplied()) {
          throw new ExclusionViolation("sold what was sold out");
        }
        return true;
      }

      @Override
      public void close() {
        pawl.close();
      }
    };
  }

  @Override
  public List<Section> measure(Settings settings, Consumer<String> progress) {
    try (GateGround ground = open(settings.folder())) {
      List<Section> sections =
          new ArrayList<>(new ContestRunner(this, settings, progress).run(ground));
      sections.addAll(new SaleContest(name(), ground, settings, progress).run(ITEMS));
      return sections;
    }
  }

  @Override
  public GateGround open(Path folder) {
    RedisServer redis = RedisServer.start();
    try {
      return new GateGround(redis, new SqlGround(SqlFlavour.MYSQL));
    } catch (RuntimeException e) {
      redis.close();
      throw e;
    }
  }

  /** Counts what reaches the truth. */
  record GateGround(RedisServer redis, SqlGround truth) implements Ground {

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
      notes.add(
          PAIR
              + ": hand-off is from before its UPDATE that gives back to after the next that takes");
      return notes;
    }

    @Override
    public void close() {
      redis.close();
      truth.close();
    }
  }

  /** The gate's part of a ground's address. */
  static String gateOf(String address) {
    return address.substring("gate:".length(), address.indexOf('|'));
  }

  /** The truth's part of a ground's address. */
  static String truthOf(String address) {
    return address.substring(address.indexOf('|') + 1);
  }

  /** A rival that goes round the gate. */
  private record OnTruth(String name, Rival rival) implements Rival {

    @Override
    public String missing() {
      return rival.missing();
    }

    @Override
    public Client connect(String address) {
      return rival.connect(truthOf(address));
    }
  }
}
