package io.pawl.composite;

import io.pawl.memory.MemoryStore;
import io.pawl.spi.LockStore;
import io.pawl.tck.StoreContracts;

/** The composition by itself: what is wrong here is wrong with it, not with its parts. */
class MemoryContractsTest extends StoreContracts {

  private static final MemoryStore GATE = new MemoryStore();
  private static final MemoryStore TRUTH = new MemoryStore();

  @Override
  protected LockStore openStore() {
    return GateStore.over(GATE, TRUTH);
  }
}
