package io.pawl.composite;

import io.pawl.memory.MemoryStore;
import io.pawl.spi.LockStore;
import io.pawl.tck.CounterContract;
import io.pawl.tck.InspectableContract;
import io.pawl.tck.LockContract;
import io.pawl.tck.LockStoreContract;
import org.junit.jupiter.api.Nested;

/** The composition by itself: what is wrong here is wrong with it, not with its parts. */
class MemoryContractsTest {

  private static final MemoryStore GATE = new MemoryStore();
  private static final MemoryStore TRUTH = new MemoryStore();

  private static LockStore open() {
    return GateStore.over(GATE, TRUTH);
  }

  @Nested
  class Store extends LockStoreContract {
    @Override
    protected LockStore openStore() {
      return open();
    }
  }

  @Nested
  class Lock extends LockContract {
    @Override
    protected LockStore openStore() {
      return open();
    }
  }

  @Nested
  class Inspecting extends InspectableContract {
    @Override
    protected LockStore openStore() {
      return open();
    }
  }

  @Nested
  class Counters extends CounterContract {
    @Override
    protected LockStore openStore() {
      return open();
    }
  }
}
