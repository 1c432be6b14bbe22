package io.pawl.sql;

class SqliteContractsTest extends DatabaseContracts {

  SqliteContractsTest() {
    super(TestDatabase.SQLITE);
  }

  @Override
  protected int takesOverALossyNetwork() {
    return 15_000;
  }
}
