package io.pawl.zookeeper;

import io.pawl.spi.Kind;
import io.pawl.spi.Mode;
import io.pawl.zookeeper.Requests.Node;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;

/** The nodes of locks, and those above them: made where they are missing. Thread-safe. */
final class LockNodes {

  private static final int MOST_KNOWN = 10_000;

  /**
   * The service removes nodes of idle locks once a minute; one that has gone costs one trip more.
   */
  private static final long KNOWN_NANOS = TimeUnit.SECONDS.toNanos(20);

  private final Nodes nodes;
  private final ReentrantLock mutex = new ReentrantLock();

  /** A node of a lock, and when it was last seen. */
  private record Seen(Node node, long atNanos) {}

  private final LinkedHashMap<String, Seen> known =
      new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Seen> eldest) {
          return size() > MOST_KNOWN;
        }
      };

  LockNodes(Nodes nodes) {
    this.nodes = nodes;
  }

  /** Makes the node of a lock, unless it was there just now. */
  CompletableFuture<?> make(Requests under, String lock, Mode mode) {
    mutex.lock();
    try {
      Seen seen = known.get(lock);
      if (seen != null && System.nanoTime() - seen.atNanos < KNOWN_NANOS) {
        return CompletableFuture.completedFuture(null);
      }
    } finally {
      mutex.unlock();
    }
    return under.create(
        nodes.lock(lock), Stored.kind(new Kind(mode.capacity())), CreateMode.CONTAINER);
  }

  void isThere(String lock, Node node) {
    mutex.lock();
    try {
      known.put(lock, new Seen(node, System.nanoTime()));
    } finally {
      mutex.unlock();
    }
  }

  /** The node of a lock as it was read, however long ago; null if it was not. */
  @Nullable Node lastSeen(String lock) {
    mutex.lock();
    try {
      Seen seen = known.get(lock);
      return seen == null ? null : seen.node;
    } finally {
      mutex.unlock();
    }
  }

  void isMissing(String lock) {
    mutex.lock();
    try {
      known.remove(lock);
    } finally {
      mutex.unlock();
    }
  }

  /** Makes the nodes above those of locks, whichever are missing. */
  CompletableFuture<Void> makeBase(Requests under) {
    CompletableFuture<Void> made = CompletableFuture.completedFuture(null);
    String path = nodes.locks();
    for (int slash = path.indexOf('/', 1); slash > 0; slash = path.indexOf('/', slash + 1)) {
      String above = path.substring(0, slash);
      made = made.thenCompose(nothing -> makeNode(under, above));
    }
    return made.thenCompose(nothing -> makeNode(under, path));
  }

  /** Asks first: who may read a node need not have the right to create its like. */
  private static CompletableFuture<Void> makeNode(Requests under, String path) {
    return under
        .exists(path)
        .thenCompose(
            stat ->
                stat != null
                    ? CompletableFuture.<Void>completedFuture(null)
                    : under
                        .create(path, new byte[0], CreateMode.PERSISTENT)
                        .handle(
                            (created, error) -> {
                              if (error != null && Failures.code(error) != Code.NODEEXISTS) {
                                throw Failures.unchecked(error);
                              }
                              return null;
                            }));
  }
}
