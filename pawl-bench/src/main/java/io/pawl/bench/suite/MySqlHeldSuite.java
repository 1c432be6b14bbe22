package io.pawl.bench.suite;

import io.pawl.bench.rival.SqlFlavour;

/** {@code bench mysql-held}. */
public final class MySqlHeldSuite extends SqlHeldSuite {

  public MySqlHeldSuite() {
    super(SqlFlavour.MYSQL);
  }

  @Override
  public String name() {
    return "mysql-held";
  }
}
