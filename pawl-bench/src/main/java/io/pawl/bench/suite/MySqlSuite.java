package io.pawl.bench.suite;

import io.pawl.bench.rival.SqlFlavour;

/** {@code bench mysql}. */
public final class MySqlSuite extends SqlSuite {

  public MySqlSuite() {
    super(SqlFlavour.MYSQL, 8);
  }

  @Override
  public String name() {
    return "mysql";
  }
}
