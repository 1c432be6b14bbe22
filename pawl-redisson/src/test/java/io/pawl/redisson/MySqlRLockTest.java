package io.pawl.redisson;

class MySqlRLockTest extends RLockCases {

  MySqlRLockTest() {
    super(Servers.mySqlUrl());
  }
}
