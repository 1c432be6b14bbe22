package io.pawl.zookeeper;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.error.StaleTokenException;
import io.pawl.error.StoreException;
import io.pawl.servers.ZooKeeperServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

class ZooKeeperFenceTest {

  private final ZooKeeperServer server = ZooKeeperServer.start("tickTime=200");
  private final ZooKeeper zooKeeper = connect();
  private final ZooKeeperFence fence =
      new ZooKeeperFence(zooKeeper, "/fences", Ids.OPEN_ACL_UNSAFE);

  private ZooKeeper connect() {
    try {
      return new ZooKeeper(server.address(), 4_000, event -> {});
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @BeforeEach
  void makeNodes() throws Exception {
    for (String path : List.of("/fences", "/report")) {
      zooKeeper.create(path, new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
    }
  }

  @AfterEach
  void close() throws Exception {
    zooKeeper.close();
    server.close();
  }

  private static List<Op> text(String text) {
    return List.of(Op.setData("/report", text.getBytes(UTF_8), -1));
  }

  private String report() throws Exception {
    return new String(zooKeeper.getData("/report", false, null), UTF_8);
  }

  @Test
  void p3_fencedSafety_aWriteUnderASmallerTokenIsRefused() throws Exception {
    fence.write("report", 7, text("seven"));
    fence.write("report", 7, text("seven again"));
    fence.write("report", 9, text("nine"));

    assertThatThrownBy(() -> fence.write("report", 8, text("eight")))
        .isInstanceOf(StaleTokenException.class)
        .hasMessageContaining("9 has been here");
    assertThatThrownBy(() -> fence.accept("report", 8)).isInstanceOf(StaleTokenException.class);
    assertThat(report()).isEqualTo("nine");
    fence.accept("other/report", 1);
  }

  @Test
  void aWriteThatFailsRaisesNoToken() throws Exception {
    fence.write("report", 1, text("one"));
    List<Op> impossible = List.of(Op.setData("/report", new byte[0], 77));

    assertThatThrownBy(() -> fence.write("report", 5, impossible))
        .isInstanceOf(KeeperException.BadVersionException.class);

    fence.write("report", 2, text("two"));
    assertThat(report()).isEqualTo("two");
  }

  /** As zkCli makes one that is given none, and another one. */
  @ParameterizedTest
  @NullSource
  @ValueSource(strings = "seven")
  void dataThatIsNoTokenIsRefusedWithWhatToDo(String data) throws Exception {
    byte[] bytes = data == null ? null : data.getBytes(UTF_8);
    zooKeeper.create("/fences/report", bytes, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);

    assertThatThrownBy(() -> fence.write("report", 7, text("seven")))
        .isInstanceOf(StoreException.class)
        .hasMessageContaining("/fences/report has data that is no token; set it to");
    assertThat(report()).isEmpty();
  }

  @Test
  void ofWritersAtTheSameMomentTheLargestTokenIsTheLast() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(8);
    try {
      List<Callable<Boolean>> writes = new ArrayList<>();
      for (int token = 1; token <= 40; token++) {
        int each = token;
        writes.add(() -> isAccepted(each));
      }
      int accepted = 0;
      for (Future<Boolean> write : threads.invokeAll(writes)) {
        accepted += write.get() ? 1 : 0;
      }
      assertThat(accepted).isPositive();
      assertThat(report()).isEqualTo("40");
    } finally {
      threads.shutdownNow();
    }
  }

  private boolean isAccepted(int token) throws Exception {
    try {
      fence.write("report", token, text(Integer.toString(token)));
      return true;
    } catch (StaleTokenException e) {
      return false;
    }
  }
}
