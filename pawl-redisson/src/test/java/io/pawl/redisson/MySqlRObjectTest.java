package io.pawl.redisson;

class MySqlRObjectTest extends RObjectCases {

  MySqlRObjectTest() {
    super(Servers.mySqlUrl());
  }
}
