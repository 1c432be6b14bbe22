package io.pawl.bench;

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
