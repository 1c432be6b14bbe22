package io.pawl.zookeeper;

import io.pawl.spi.Mode;
import io.pawl.zookeeper.Nodes.Place;
import io.pawl.zookeeper.QueuedClaim.State;
import io.pawl.zookeeper.Requests.Node;
import io.pawl.zookeeper.Requests.OnChange;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import org.apache.zookeeper.KeeperException.Code;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Nodes that outlive their client, as a claim of ours finds them in its queue: each stands for a
 * client that lives, or for a shortest hold that is not over, or is removed.
 */
final class Remains {

  private static final Logger log = LoggerFactory.getLogger(Remains.class);

  /** What is known of such a node. */
  enum Finding {
    STANDS,
    GONE,
    /** It changed meanwhile. */
    UNKNOWN
  }

  private final QueuedClaim own;
  private final Clock clock;

  /** Until when each stands for its shortest hold alone. Guarded by the claim's mutex. */
  private final Map<String, Future<?>> timers = new HashMap<>();

  Remains(QueuedClaim own, Clock clock) {
    this.own = own;
    this.clock = clock;
  }

  String sign(Place place) {
    return own.lockPath() + "/" + place.sign();
  }

  /**
   * Looks at the sign of a kept node, and watches it; what stands for its shortest hold alone is
   * looked at once more when that is over.
   */
  CompletableFuture<Finding> look(Place place, Node node, OnChange watcher) {
    String path = own.lockPath() + "/" + place.name();
    return own.ask()
        .read(sign(place), watcher)
        .thenCompose(
            sign ->
                sign != null
                    ? CompletableFuture.completedFuture(Finding.STANDS)
                    : lookAtTime(path, node, watcher));
  }

  /**
   * What stands for its shortest hold alone. Where it is over by this machine's clock, though not
   * if that runs too fast, the service is asked for its time.
   */
  private CompletableFuture<Finding> lookAtTime(String path, Node node, OnChange watcher) {
    Stored stored = Stored.parse(path, node.data());
    if (!stored.granted()) {
      return remove(path, node);
    }
    long overMillis = node.stat().getMtime() + stored.holdMillis();
    boolean over;
    long leftMillis;
    String ownPath;
    Mode mode;
    own.mutex.lock();
    try {
      over = overMillis <= own.node().earliestServiceMillis();
      leftMillis = overMillis - own.node().latestServiceMillis();
      ownPath = own.node().path();
      mode = own.mode;
    } finally {
      own.mutex.unlock();
    }
    if (over || ownPath == null) {
      return over ? remove(path, node) : CompletableFuture.completedFuture(Finding.UNKNOWN);
    }
    if (leftMillis > 0) {
      lookAfter((leftMillis + 1) * 1_000_000, path, watcher);
      return CompletableFuture.completedFuture(Finding.STANDS);
    }
    long askedNanos = System.nanoTime();
    return own.node()
        .write(ownPath, mode)
        .thenCompose(
            stat -> {
              own.isWritten(stat, askedNanos);
              return lookAtTime(path, node, watcher);
            });
  }

  /** One timer for each, however often a waiter looks. */
  private void lookAfter(long nanos, String path, OnChange watcher) {
    own.mutex.lock();
    try {
      if (own.state == State.WAITING) {
        Future<?> known = timers.put(path, clock.after(nanos, () -> watcher.changed(false)));
        if (known != null) {
          known.cancel(false);
        }
      }
    } finally {
      own.mutex.unlock();
    }
  }

  /** Nothing is looked at any more. Under the mutex. */
  void stop() {
    timers.values().forEach(timer -> timer.cancel(false));
    timers.clear();
  }

  private CompletableFuture<Finding> remove(String path, Node node) {
    return own.ask()
        .delete(path, node.stat().getVersion())
        .handle(
            (was, error) -> {
              if (error == null) {
                return Finding.GONE;
              }
              if (Failures.code(error) == Code.BADVERSION) {
                return Finding.UNKNOWN;
              }
              throw Failures.unchecked(error);
            });
  }

  /**
   * Removes a node of the same claim that an older session of this client left, unless it stands
   * for a shortest hold. Nobody waits for it: whoever stands behind it finds it dead as well.
   */
  void removeOlder(Place place) {
    String path = own.lockPath() + "/" + place.name();
    own.ask()
        .read(path, null)
        .thenCompose(
            node ->
                node == null || Stored.parse(path, node.data()).granted()
                    ? CompletableFuture.completedFuture(false)
                    : own.ask().delete(path, node.stat().getVersion()))
        .whenComplete(
            (was, error) -> {
              if (error != null) {
                log.debug("claim {}: its older node {} is left for others", own.id(), path, error);
              }
            });
  }
}
