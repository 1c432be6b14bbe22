package io.pawl.bench.suite;

import io.pawl.bench.rival.SqlFlavour;

/** {@code bench postgres-held}. */
public final class PostgresHeldSuite extends SqlHeldSuite {

  public PostgresHeldSuite() {
    super(SqlFlavour.POSTGRESQL);
  }

  @Override
  public String name() {
    return "postgres-held";
  }
}
