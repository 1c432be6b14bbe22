package io.pawl.sql;

class MySqlContractsTest extends DatabaseContracts {

  MySqlContractsTest() {
    super(TestDatabase.MYSQL);
  }
}
