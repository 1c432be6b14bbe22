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
import java.util.function.LongFunction;

/**
 * What this client believes of the kinds of locks, and the lease that remembers them: a kind is
 * stored for 10 to 20 minutes after the last use of its lock. Whatever is believed is compared in
 * the transaction that relies on it. Thread-safe.
 */
final class Kinds {

  private static final int MOST = 10_000;

  /** How long a kind is stored at most after its last use; at least half of it. */
  static final long SECONDS = 1_200;

  /** How often a kind may turn out to be another than was believed. */
  private static final int MOST_TRIES = 4;

  /**
   * @param lease on which it was put last, 0 if this client has not
   * @param seen whether it was read, or put by this client, and was not missed since
   * @param free whether nobody was in the way when this client took the lock last
   */
  record Known(StoredKind kind, long lease, boolean seen, boolean free) {}

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

  /**
   * @param seconds for how long a kind is stored at most after its last use, at least half of it
   */
  Kinds(Gateway gateway, Keys keys, long seconds) {
    this.gateway = gateway;
    this.keys = keys;
    this.lease = new PassingLease(gateway, seconds);
  }

  PassingLease lease() {
    return lease;
  }

  /** What {@code lock} is believed to be; what {@code mode} is for, if nothing is known. */
  Known of(String lock, Mode mode) {
    mutex.lock();
    try {
      Known one = known.get(lock);
      return one != null && one.kind.kind().takes(mode) ? one : unknown(mode);
    } finally {
      mutex.unlock();
    }
  }

  private static Known unknown(Mode mode) {
    return new Known(StoredKind.of(new Kind(mode.capacity())), 0, false, false);
  }

  void learn(String lock, StoredKind kind, long putOn) {
    remember(lock, new Known(kind, putOn, true, false));
  }

  /** The lock was taken by the first attempt. */
  void isFree(String lock) {
    setFree(lock, true);
  }

  /** Somebody was in the way, or something else. */
  void isBusy(String lock) {
    setFree(lock, false);
  }

  private void setFree(String lock, boolean free) {
    mutex.lock();
    try {
      known.computeIfPresent(lock, (name, one) -> new Known(one.kind, one.lease, one.seen, free));
    } finally {
      mutex.unlock();
    }
  }

  /** The lock's kind is not stored any more: whoever comes next puts it as it was. */
  void miss(String lock, StoredKind was) {
    remember(lock, new Known(was, 0, false, false));
  }

  private void remember(String lock, Known one) {
    mutex.lock();
    try {
      known.put(lock, one);
    } finally {
      mutex.unlock();
    }
  }

  /**
   * Runs a request that puts {@code kind}, with the lease to put it on, 0 for none. If etcd no
   * longer has the lease, once more with the next one.
   */
  <T> CompletableFuture<T> on(StoredKind kind, LongFunction<CompletableFuture<T>> request) {
    return kind.base() == 0 ? lease.with(request) : request.apply(0);
  }

  /**
   * Puts the kind of a claim's lock, if that was not done for it on the current lease. Nobody waits
   * for it: a failure leaves it to the next time.
   */
  void remember(LocalClaim local) {
    StoredKind kind = held(local).kind;
    if (kind.base() == 0 && !(local.kindLease != 0 && local.kindLease == lease.id())) {
      lease.with(id -> remember(local, id, 0, MOST_TRIES)).exceptionally(error -> false);
    }
  }

  /** What the lock of a claim is believed to be that is held, whatever its claim was made for. */
  private Known held(LocalClaim local) {
    mutex.lock();
    try {
      Known one = known.get(local.lock());
      return one == null ? unknown(local.mode()) : one;
    } finally {
      mutex.unlock();
    }
  }

  /**
   * Compares the revision at which it was put, so that a late copy does not put it back on a lease
   * that ends sooner.
   *
   * @param revision of the store when this was asked for; 0 if it is not known
   */
  private CompletableFuture<Boolean> remember(LocalClaim local, long id, long revision, int tries) {
    Known one = held(local);
    if (one.kind.base() != 0 || one.lease == id || tries == 0) {
      local.kindLease = one.lease == id ? id : local.kindLease;
      return CompletableFuture.completedFuture(true);
    }
    String key = keys.kind(local.lock());
    String text = one.kind.toString();
    return gateway
        .txn(
            Txn.of(
                List.of(Txn.hasValue(key, text), Txn.unchangedSince(key, revision)),
                List.of(Txn.put(key, text, id)),
                List.of(Txn.get(key))))
        .thenCompose(
            reply -> {
              if (reply.succeeded()) {
                learn(local.lock(), one.kind, id);
              } else if (reply.found(0).isEmpty()) {
                return restore(local, one.kind, id);
              } else {
                learn(local.lock(), StoredKind.parse(reply.found(0).get(0)), 0);
              }
              return remember(local, id, reply.revision(), tries - 1);
            });
  }

  /** It was deleted, or ran out, under a claim that relies on it. */
  private CompletableFuture<Boolean> restore(LocalClaim local, StoredKind kind, long id) {
    String key = keys.kind(local.lock());
    return gateway
        .txn(
            Txn.of(
                    List.of(Txn.isAbsent(key)),
                    List.of(Txn.put(key, kind.toString(), id)),
                    List.of())
                .alone())
        .thenApply(
            reply -> {
              if (reply.succeeded()) {
                learn(local.lock(), kind, id);
                local.kindLease = id;
              }
              return reply.succeeded();
            });
  }
}
