package io.pawl.sql;

/** The oldest MariaDB that Pawl supports. */
class MariaDb1011ContractsTest extends VersionContracts {

  MariaDb1011ContractsTest() {
    super(TestDatabase.MARIADB, "10.11");
  }
}
