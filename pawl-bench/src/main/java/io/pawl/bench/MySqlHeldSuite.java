package io.pawl.bench;

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
