package io.pawl.etcd;

import io.pawl.etcd.gateway.Gateway;
import io.pawl.etcd.gateway.Txn;
import io.pawl.spi.Kind;
import io.pawl.spi.Mode;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;

/**
 * What this client believes of the kinds of locks, and the lease that remembers them: a kind is
 * stored for 10 to 20 minutes after the last use of its lock. Whatever is believed is compared in
 * the transaction that relies on it. Thread-safe.
 */
final class Kinds {

  private static final int MOST = 10_000;
  private static final long SECONDS = 1_200;

  /**
   * @param lease on which it was put last, 0 if this client has not
   */
  record Known(StoredKind kind, long lease) {}

  private final ReentrantLock mutex = new ReentrantLock();
  private final PassingLease lease;
  private final Keys keys;
  private final Gateway gateway;

  @SuppressWarnings("serial")
  private final Map<String, Known> known =
      new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Known> eldest) {
          return size() > MOST;
        }
      };

  Kinds(Gateway gateway, Keys keys) {
    this.gateway = gateway;
    this.keys = keys;
    this.lease = new PassingLease(gateway, SECONDS);
  }

  PassingLease lease() {
    return lease;
  }

  /** What {@code lock} is believed to be; what {@code mode} is for, if nothing is known. */
  Known of(String lock, Mode mode) {
    mutex.lock();
    try {
      Known one = known.get(lock);
      return one != null && one.kind.kind().takes(mode)
          ? one
          : new Known(StoredKind.of(new Kind(mode.capacity())), 0);
    } finally {
      mutex.unlock();
    }
  }

  void learn(String lock, StoredKind kind, long putOn) {
    mutex.lock();
    try {
      known.put(lock, new Known(kind, putOn));
    } finally {
      mutex.unlock();
    }
  }

  /** Puts the kind of a lock that is still held, if this client has not done so of late. */
  void remember(String lock, Mode mode) {
    Known one = of(lock, mode);
    if (one.kind.base() != 0) {
      return;
    }
    CompletableFuture<Long> current = lease.current();
    if (current.isDone() && !current.isCompletedExceptionally() && current.join() == one.lease) {
      return;
    }
    String key = keys.kind(lock);
    String text = one.kind.toString();
    current.thenCompose(
        id -> {
          Txn.Op put = Txn.put(key, text, id);
          Txn ifAbsent = Txn.of(List.of(Txn.isAbsent(key)), List.of(put), List.of());
          return gateway
              .txn(
                  Txn.of(
                      List.of(Txn.hasValue(key, text)),
                      List.of(put),
                      List.of(Txn.nested(ifAbsent))))
              .thenAccept(
                  reply -> {
                    if (reply.succeeded()) {
                      learn(lock, one.kind, id);
                    }
                  });
        });
  }
}
