package io.pawl.zookeeper;

import io.pawl.error.StoreException;
import io.pawl.spi.Kind;
import io.pawl.spi.Mode;
import io.pawl.zookeeper.Nodes.Queue;
import io.pawl.zookeeper.QueuedClaim.State;
import io.pawl.zookeeper.Requests.Node;
import io.pawl.zookeeper.Requests.OnChange;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How many permits there are, for a claim that waits for some: from the moment at which a sign says
 * that they became more or fewer until they have been read, nothing is granted.
 */
final class KindWatch {

  private static final Logger log = LoggerFactory.getLogger(KindWatch.class);

  private final QueuedClaim own;
  private final Runnable lookAgain;

  /** The same object every time, so that it can be taken back. */
  private final OnChange watcher = deleted -> changed();

  /** How often a sign came. Guarded by the claim's mutex, as is the next one. */
  private int signs;

  private boolean doubtful;

  /**
   * @param lookAgain looks once more at how the claim stands
   */
  KindWatch(QueuedClaim own, Runnable lookAgain) {
    this.own = own;
    this.lookAgain = lookAgain;
  }

  /** Whether it may change while the claim waits, so that it is watched. */
  private boolean matters() {
    return own.claim().mode() instanceof Mode.Permits;
  }

  /** To be noted before the kind is read. */
  int signs() {
    own.mutex.lock();
    try {
      return signs;
    } finally {
      own.mutex.unlock();
    }
  }

  /** It was read after there had been {@code then} signs. Under the mutex. */
  void isRead(int then) {
    doubtful = signs != then;
  }

  /** A sign may have been lost. Under the mutex. */
  void isToBeRead() {
    doubtful = matters();
  }

  /** Whether it has to be read before anything is granted. Under the mutex. */
  boolean isDoubtful() {
    return doubtful;
  }

  /** It is watched no more. */
  void stop() {
    own.ask().unwatch(own.lockPath(), watcher);
  }

  /** The node of the lock, which is watched from then on where its kind matters. */
  CompletableFuture<@Nullable Node> node() {
    return own.ask().read(own.lockPath(), matters() ? watcher : null);
  }

  /**
   * As {@link #node()}; where its kind is not watched it is read only if {@code listing} shows
   * another one than {@code last}.
   */
  CompletableFuture<@Nullable Node> node(
      CompletableFuture<@Nullable Queue> listing, @Nullable Node last) {
    if (last == null || matters()) {
      return node();
    }
    return listing.thenCompose(
        queue ->
            queue == null || isUnchanged(last.stat(), queue.lock())
                ? CompletableFuture.completedFuture(queue == null ? null : last)
                : node());
  }

  private static boolean isUnchanged(Stat then, Stat now) {
    return then.getCzxid() == now.getCzxid() && then.getVersion() == now.getVersion();
  }

  /** Reads it, and watches it from then on. */
  CompletableFuture<Kind> read() {
    int then = signs();
    return node().thenApply(node -> parsed(node, then));
  }

  private Kind parsed(@Nullable Node node, int then) {
    if (node == null) {
      throw new CompletionException(KeeperException.create(Code.NONODE, own.lockPath()));
    }
    Kind kind;
    try {
      kind = Stored.parseKind(own.lockPath(), node.data());
    } catch (StoreException e) {
      log.warn("lock '{}' is unreadable, so nothing of it is granted", own.claim().lock(), e);
      throw e;
    }
    own.mutex.lock();
    try {
      isRead(then);
    } finally {
      own.mutex.unlock();
    }
    return kind;
  }

  /** A claim that wants more than there are now loses its place. */
  void leaveIfTooFew(Kind kind) {
    boolean tooFew;
    own.mutex.lock();
    try {
      tooFew = own.state == State.WAITING && Nodes.units(own.mode) > kind.capacity();
    } finally {
      own.mutex.unlock();
    }
    if (tooFew) {
      own.leaving()
          .end(Duration.ZERO)
          .whenComplete(
              (nothing, error) -> {
                if (error != null) {
                  log.debug("claim {} could not leave yet", own.id(), error);
                }
              });
    }
  }

  private void changed() {
    own.mutex.lock();
    try {
      signs++;
      doubtful = true;
      if (own.state != State.WAITING) {
        return;
      }
    } finally {
      own.mutex.unlock();
    }
    lookAgain.run();
  }
}
