package io.pawl.bench.suite;

import io.pawl.bench.rival.SqlFlavour;

/** {@code bench counters-mariadb}. */
public final class CountersMariaDbSuite extends CountersSqlSuite {

  public CountersMariaDbSuite() {
    super(SqlFlavour.MARIADB);
  }

  @Override
  public String name() {
    return "counters-mariadb";
  }
}
