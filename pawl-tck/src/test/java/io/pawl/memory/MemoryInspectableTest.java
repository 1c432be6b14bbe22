package io.pawl.memory;

import io.pawl.spi.LockStore;
import io.pawl.tck.InspectableContract;

class MemoryInspectableTest extends InspectableContract {
  private final MemoryStore service = new MemoryStore();

  @Override
  protected LockStore openStore() {
    return service;
  }
}
