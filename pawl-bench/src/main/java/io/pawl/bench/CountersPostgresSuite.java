package io.pawl.bench;

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
