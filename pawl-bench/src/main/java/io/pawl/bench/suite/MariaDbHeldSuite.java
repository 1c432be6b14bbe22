package io.pawl.bench.suite;

import io.pawl.bench.rival.SqlFlavour;

/** {@code bench mariadb-held}. */
public final class MariaDbHeldSuite extends SqlHeldSuite {

  public MariaDbHeldSuite() {
    super(SqlFlavour.MARIADB);
  }

  @Override
  public String name() {
    return "mariadb-held";
  }
}
