package io.pawl.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.servers.ZooKeeperServer;
import io.pawl.spi.Claim;
import io.pawl.spi.Inspectable.LockView;
import io.pawl.spi.Kind;
import java.util.ArrayList;
import java.util.List;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Test;

/** Answers of more than a megabyte, which ZooKeeper's client does not take by itself. */
class LargeAnswersTest {

  private static final int LOCKS = 1_000;
  private static final int BATCH = 100;
  private static final int CLAIMS = Requests.MOST + LOCKS;

  @Test
  void locksAreListedThoughTheirNamesFillMegabytes() throws Exception {
    try (ZooKeeperServer server = ZooKeeperServer.start(ContractServers.OPTIONS);
        ZooKeeperStore store =
            ZooKeeperStore.connect("zk://" + server.address() + ContractServers.PARAMETERS);
        ZooKeeper raw = new ZooKeeper(server.address(), 10_000, event -> {})) {
      Nodes nodes = new Nodes("/pawl");
      byte[] kind = Stored.kind(new Kind(0));
      for (int from = 0; from < LOCKS; from += BATCH) {
        List<Op> ops = new ArrayList<>();
        for (int i = from; i < from + BATCH; i++) {
          String path = nodes.lock(i + "€".repeat(150));
          ops.add(Op.create(path, kind, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT));
        }
        raw.multi(ops);
      }
      Seam seam = new Seam(store);
      Claim claim = seam.claim("zz");
      seam.take(claim);

      List<LockView> listed = Seam.answer(store.list(10));

      assertThat(listed).extracting(LockView::name).containsExactly("zz");
    }
  }

  /** More than there may be requests under way. */
  @Test
  void aLockOfMoreClaimsThanRequestsMayBeUnderWayIsShownAndListed() throws Exception {
    try (ZooKeeperServer server = ZooKeeperServer.start(ContractServers.OPTIONS);
        ZooKeeperStore store =
            ZooKeeperStore.connect("zk://" + server.address() + "?tick=100ms&timeout=30s");
        ZooKeeper raw = new ZooKeeper(server.address(), 10_000, event -> {})) {
      String lock = new Nodes("/pawl").lock("many");
      raw.create(lock, Stored.kind(new Kind(0)), Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
      for (int from = 0; from < CLAIMS; from += LOCKS) {
        List<Op> ops = new ArrayList<>();
        for (int i = from; i < from + LOCKS; i++) {
          String path = lock + "/r-client." + i + "-1-";
          ops.add(
              Op.create(path, new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT_SEQUENTIAL));
        }
        raw.multi(ops);
      }

      assertThat(Seam.answer(store.show("many")).orElseThrow().holders()).hasSize(CLAIMS);
      assertThat(Seam.answer(store.list(10))).extracting(LockView::name).containsExactly("many");
    }
  }
}
