package io.pawl.memory;

import io.pawl.spi.LockStore;
import io.pawl.tck.LockContract;

class MemoryLockTest extends LockContract {
  private final MemoryStore service = new MemoryStore();

  @Override
  protected LockStore openStore() {
    return service;
  }
}
