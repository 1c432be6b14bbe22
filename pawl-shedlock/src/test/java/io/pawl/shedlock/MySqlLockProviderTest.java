package io.pawl.shedlock;

class MySqlLockProviderTest extends LockProviderCases {

  MySqlLockProviderTest() {
    super(Servers.mySqlUrl());
  }
}
