package io.pawl.sql;

/** The newest PostgreSQL. */
class Postgres18ContractsTest extends VersionContracts {

  Postgres18ContractsTest() {
    super(TestDatabase.POSTGRES, "18");
  }
}
