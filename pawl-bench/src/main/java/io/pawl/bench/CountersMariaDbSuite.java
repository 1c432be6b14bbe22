package io.pawl.bench;

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
