package io.pawl.bench.suite;

import io.pawl.bench.report.Metric;
import io.pawl.bench.report.Target;
import io.pawl.bench.rival.SqlFlavour;

/** {@code bench counters-mysql}. */
public final class CountersMySqlSuite extends CountersSqlSuite {

  public CountersMySqlSuite() {
    super(SqlFlavour.MYSQL, Target.timesAtLeast(15, PAWL, Metric.CYCLES, GUARDED));
  }

  @Override
  public String name() {
    return "counters-mysql";
  }
}
