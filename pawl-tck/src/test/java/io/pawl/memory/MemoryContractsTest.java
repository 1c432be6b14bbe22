package io.pawl.memory;

import io.pawl.spi.LockStore;
import io.pawl.tck.StoreContracts;

class MemoryContractsTest extends StoreContracts {

  private final MemoryStore service = new MemoryStore();

  @Override
  protected LockStore openStore() {
    return service;
  }

  @Override
  protected int takesOverALossyNetwork() {
    return 1_000_000;
  }
}
