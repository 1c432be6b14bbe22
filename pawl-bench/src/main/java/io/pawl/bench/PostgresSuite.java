package io.pawl.bench;

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
