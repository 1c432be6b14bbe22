package io.pawl.sql;

class MariaDbContractsTest extends DatabaseContracts {

  MariaDbContractsTest() {
    super(TestDatabase.MARIADB);
  }
}
