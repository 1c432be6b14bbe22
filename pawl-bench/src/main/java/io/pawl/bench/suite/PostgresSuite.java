package io.pawl.bench.suite;

import io.pawl.bench.rival.SqlFlavour;

/** {@code bench postgres}. */
public final class PostgresSuite extends SqlSuite {

  public PostgresSuite() {
    super(SqlFlavour.POSTGRESQL, 3);
  }

  @Override
  public String name() {
    return "postgres";
  }
}
