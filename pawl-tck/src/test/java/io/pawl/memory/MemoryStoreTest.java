package io.pawl.memory;

import io.pawl.spi.LockStore;
import io.pawl.tck.LockStoreContract;

class MemoryStoreTest extends LockStoreContract {
  private final MemoryStore service = new MemoryStore();

  @Override
  protected LockStore openStore() {
    return service;
  }
}
