package io.pawl.spring.integration;

class MySqlLockRegistryTest extends LockRegistryCases {

  MySqlLockRegistryTest() {
    super(Servers.mySqlUrl());
  }
}
