package io.pawl.sql;

class SqliteContractsTest extends DatabaseContracts {

  SqliteContractsTest() {
    super(TestDatabase.SQLITE);
  }

  /** GUARANTEES.md: SQLite and stopped processes. On a slow disk most of a renewal is a commit. */
  @Override
  protected int mostStops() {
    return 20;
  }

  @Override
  protected int takesOverALossyNetwork() {
    return 15_000;
  }
}
