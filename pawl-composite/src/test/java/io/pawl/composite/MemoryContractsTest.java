package io.pawl.composite;

import io.pawl.memory.MemoryStore;
import io.pawl.spi.LockStore;
import io.pawl.tck.StoreContracts;
import java.time.Duration;

/** The composition by itself: what is wrong here is wrong with it, not with its parts. */
class MemoryContractsTest extends StoreContracts {

  private static final MemoryStore GATE = new MemoryStore();
  private static final MemoryStore TRUTH = new MemoryStore();

  /** A machine that stands still for longer than a lease loses it, as it should. */
  @Override
  protected Duration shortLease() {
    return Servers.SHORT_LEASE;
  }

  @Override
  protected LockStore openStore() {
    return GateStore.over(GATE, TRUTH, Servers.PATIENT);
  }
}
