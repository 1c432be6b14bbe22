package io.pawl.bench.suite;

import io.pawl.bench.rival.SqlFlavour;

/** {@code bench counters-postgres}. */
public final class CountersPostgresSuite extends CountersSqlSuite {

  public CountersPostgresSuite() {
    super(SqlFlavour.POSTGRESQL);
  }

  @Override
  public String name() {
    return "counters-postgres";
  }
}
