package io.pawl.bench.suite;

import io.pawl.bench.rival.SqlFlavour;

/** {@code bench mariadb}. */
public final class MariaDbSuite extends SqlSuite {

  public MariaDbSuite() {
    super(SqlFlavour.MARIADB, 8);
  }

  @Override
  public String name() {
    return "mariadb";
  }
}
