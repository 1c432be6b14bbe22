package io.pawl.sql;

/** The oldest MySQL that Pawl supports. */
class MySql80ContractsTest extends VersionContracts {

  MySql80ContractsTest() {
    super(TestDatabase.MYSQL, "8.0");
  }
}
