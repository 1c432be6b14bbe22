package io.pawl.sql;

class PostgresContractsTest extends DatabaseContracts {

  PostgresContractsTest() {
    super(TestDatabase.POSTGRES);
  }
}
