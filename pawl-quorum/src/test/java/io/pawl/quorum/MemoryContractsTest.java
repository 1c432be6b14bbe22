package io.pawl.quorum;

import io.pawl.memory.MemoryStore;
import io.pawl.spi.LockStore;
import io.pawl.tck.InspectableContract;
import io.pawl.tck.LockContract;
import io.pawl.tck.LockStoreContract;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Nested;

/** The quorum by itself: what is wrong here is wrong with it, not with its nodes. */
class MemoryContractsTest {

  private static final List<MemoryStore> SERVERS =
      List.of(new MemoryStore(), new MemoryStore(), new MemoryStore());

  private static LockStore open() {
    List<LockStore> nodes = new ArrayList<>();
    for (int i = 0; i < SERVERS.size(); i++) {
      nodes.add(new MemoryNode(SERVERS.get(i), "memory " + i));
    }
    return QuorumStore.over(nodes, QuorumOptions.defaults());
  }

  @Nested
  class AtTheSeam extends LockStoreContract {
    @Override
    protected LockStore openStore() {
      return open();
    }
  }

  @Nested
  class Locks extends LockContract {
    @Override
    protected LockStore openStore() {
      return open();
    }

    @Override
    protected Duration longestLease() {
      return QuorumOptions.defaults().longestLease();
    }
  }

  @Nested
  class Inspecting extends InspectableContract {
    @Override
    protected LockStore openStore() {
      return open();
    }
  }
}
