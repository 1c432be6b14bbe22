package io.pawl.bench.suite;

import io.pawl.bench.Settings;
import io.pawl.bench.Suite;
import io.pawl.bench.contest.Held;
import io.pawl.bench.contest.HeldContest;
import io.pawl.bench.report.Section;
import io.pawl.bench.rival.SqlFlavour;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** 10,000 locks held for long on a database server of our own. */
final class SqlHeldSuite implements Suite {

  private static final int LOCKS = 10_000;
  private static final double LEASES_PER_TRANSACTION = 500;

  private final SqlFlavour flavour;

  SqlHeldSuite(SqlFlavour flavour) {
    this.flavour = flavour;
  }

  @Override
  public String name() {
    return flavour.word() + "-held";
  }

  @Override
  public String purpose() {
    return "10,000 held locks on a " + flavour.title + " server";
  }

  @Override
  public List<Section> measure(Settings settings, Consumer<String> progress) {
    try (SqlGround ground = new SqlGround(flavour)) {
      List<String> notes = new ArrayList<>(ground.notes().subList(0, 1));
      notes.add(
          "leases/command/period: locks × (seconds held / 10 s) / transactions"
              + " committed meanwhile; not measured in less than 20 s");
      return new HeldContest(name(), new Counted(ground), settings, progress)
          .run(LOCKS, List.of(Held.PAWL), LEASES_PER_TRANSACTION, notes);
    }
  }

  record Counted(SqlGround ground) implements HeldContest.Server {

    @Override
    public String fresh() {
      return ground.fresh();
    }

    @Override
    public long renewals() {
      return ground.commits();
    }

    @Override
    public long commands() {
      return ground.operations().orElseThrow();
    }
  }
}
