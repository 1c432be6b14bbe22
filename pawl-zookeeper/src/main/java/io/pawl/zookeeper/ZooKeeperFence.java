package io.pawl.zookeeper;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.pawl.error.StaleTokenException;
import io.pawl.error.StoreException;
import io.pawl.spi.LockName;
import io.pawl.spi.Tokens;
import java.util.ArrayList;
import java.util.List;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * Refuses the writes of a holder that has been superseded, inside ZooKeeper: one transaction checks
 * that nobody has raised the largest token meanwhile, raises it, and carries out the application's
 * own operations. No clock decides: what is written under a smaller token than one already seen is
 * not written, however long a process was paused.
 *
 * <pre>{@code
 * ZooKeeperFence fence = new ZooKeeperFence(zooKeeper, "/app/fences", ZooDefs.Ids.CREATOR_ALL_ACL);
 * try (Lease lease = lock.acquire()) {
 *   fence.write("report", lease.token(), List.of(Op.setData("/app/report", bytes, -1)));
 * }
 * }</pre>
 *
 * <p>The token of a resource is the data of a persistent node under {@code parent}, which has to
 * exist; nothing deletes it. The fence uses the application's own client, with Curator {@code
 * curator.getZookeeperClient().getZooKeeper()}, blocks, and throws what that throws. After a {@link
 * KeeperException.ConnectionLossException} the write may have been carried out. Thread-safe.
 */
public final class ZooKeeperFence {

  private static final int MOST_TRIES = 20;

  private final ZooKeeper zooKeeper;
  private final String parent;
  private final List<ACL> acl;

  /**
   * @param parent the path of a node that exists
   * @param acl who may do what with the nodes of tokens
   */
  public ZooKeeperFence(ZooKeeper zooKeeper, String parent, List<ACL> acl) {
    if (!parent.matches("/|(/[^/]+)+")) {
      throw new IllegalArgumentException(
          "parent '"
              + parent
              + "': is no path such as /app/fences; give one, without a / at its end");
    }
    this.zooKeeper = zooKeeper;
    this.parent = parent.equals("/") ? "" : parent;
    this.acl = List.copyOf(acl);
  }

  /**
   * Carries out {@code ops} in one transaction if no larger token was seen for {@code resource}.
   * Two round trips, and one more the first time or where somebody writes at the same moment.
   *
   * @param resource the name of what is protected: 1 to 300 bytes of UTF-8 without control
   *     characters
   * @return the results of {@code ops}, in their order
   * @throws StaleTokenException when a larger token was seen; nothing is written
   * @throws StoreException when the resource's node has data that is no token; nothing is written
   * @throws KeeperException when ZooKeeper refuses, for instance one of {@code ops}; nothing is
   *     written then
   */
  public List<OpResult> write(String resource, long token, List<Op> ops)
      throws KeeperException, InterruptedException {
    if (token < 1 || token > Tokens.MAX) {
      throw new IllegalArgumentException(
          "token of '" + resource + "': " + token + " is not between 1 and 2^53 - 1");
    }
    String path = parent + "/" + Nodes.encoded(LockName.check("resource", resource, 300));
    byte[] data = Long.toString(token).getBytes(UTF_8);
    KeeperException last = null;
    for (int tries = 0; tries < MOST_TRIES; tries++) {
      List<Op> all = new ArrayList<>();
      all.add(raise(resource, path, token, data));
      all.addAll(ops);
      try {
        List<OpResult> results = zooKeeper.multi(all);
        return List.copyOf(results.subList(1, results.size()));
      } catch (KeeperException e) {
        if (!isOfTheFirst(e)) {
          throw e;
        }
        last = e;
      }
    }
    throw last == null ? new KeeperException.BadVersionException(path) : last;
  }

  /**
   * Accepts {@code token} if no larger one was seen for {@code resource}, without writing anything
   * else. A write that follows in another request can come after a later holder's write.
   *
   * @throws StaleTokenException when a larger token was seen
   * @throws StoreException when the resource's node has data that is no token
   * @throws KeeperException when ZooKeeper refuses
   */
  public void accept(String resource, long token) throws KeeperException, InterruptedException {
    write(resource, token, List.of());
  }

  /** A stale read is harmless: then the version is too, and the transaction fails. */
  private Op raise(String resource, String path, long token, byte[] data)
      throws KeeperException, InterruptedException {
    Stat stat = new Stat();
    byte[] known;
    try {
      known = zooKeeper.getData(path, false, stat);
    } catch (KeeperException.NoNodeException e) {
      return Op.create(path, data, acl, CreateMode.PERSISTENT);
    }
    long seen = largest(path, known);
    if (seen > token) {
      throw new StaleTokenException(
          "token " + token + " for '" + resource + "' is stale: " + seen + " has been here", token);
    }
    return Op.setData(path, data, stat.getVersion());
  }

  private static long largest(String path, byte @Nullable [] data) {
    String text = data == null ? "" : new String(data, UTF_8);
    try {
      return Long.parseLong(text);
    } catch (NumberFormatException e) {
      throw new StoreException(
          "node " + path + " has data that is no token; set it to the largest token", e);
    }
  }

  /** Whether it was the token's node that somebody else has written meanwhile. */
  private static boolean isOfTheFirst(KeeperException failure) {
    List<OpResult> results = failure.getResults();
    return results != null
        && !results.isEmpty()
        && results.get(0) instanceof OpResult.ErrorResult first
        && (first.getErr() == KeeperException.Code.BADVERSION.intValue()
            || first.getErr() == KeeperException.Code.NODEEXISTS.intValue());
  }
}
