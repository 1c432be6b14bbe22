package io.pawl.etcd;

import io.pawl.etcd.gateway.Gateway;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Leases that nobody keeps alive: what is attached to the current one is kept for half of its time
 * at least. Granted when it is needed, one trip. Thread-safe.
 */
final class PassingLease {

  private final Gateway gateway;
  private final long seconds;
  private final ReentrantLock mutex = new ReentrantLock();
  private long id;
  private long grantedAt;
  private @Nullable CompletableFuture<Long> asking;

  PassingLease(Gateway gateway, long seconds) {
    this.gateway = gateway;
    this.seconds = seconds;
  }

  CompletableFuture<Long> current() {
    CompletableFuture<Long> answer = new CompletableFuture<>();
    long sentAt = System.nanoTime();
    mutex.lock();
    try {
      if (id != 0 && sentAt - grantedAt < seconds * 500_000_000L) {
        return CompletableFuture.completedFuture(id);
      }
      CompletableFuture<Long> known = asking;
      if (known != null) {
        return known;
      }
      asking = answer;
    } finally {
      mutex.unlock();
    }
    SharedLease.grant(gateway, seconds)
        .whenComplete(
            (kept, error) -> {
              mutex.lock();
              try {
                asking = null;
                if (kept != null) {
                  id = kept.id();
                  grantedAt = sentAt;
                }
              } finally {
                mutex.unlock();
              }
              if (kept != null) {
                answer.complete(kept.id());
              } else {
                answer.completeExceptionally(error);
              }
            });
    return answer;
  }

  /** Takes notice that etcd no longer has the lease, say since somebody revoked it. */
  void isGone() {
    mutex.lock();
    try {
      id = 0;
    } finally {
      mutex.unlock();
    }
  }
}
