package io.pawl.sql;

/** The oldest PostgreSQL that Pawl supports. */
class Postgres13ContractsTest extends VersionContracts {

  Postgres13ContractsTest() {
    super(TestDatabase.POSTGRES, "13");
  }
}
