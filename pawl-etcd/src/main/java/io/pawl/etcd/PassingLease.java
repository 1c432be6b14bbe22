package io.pawl.etcd;

import io.pawl.etcd.gateway.Failures;
import io.pawl.etcd.gateway.Gateway;
import io.pawl.etcd.gateway.RefusedException;
import io.pawl.etcd.gateway.RefusedException.Reason;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Leases that nobody keeps alive: what is attached to the current one is kept for three quarters of
 * its time at least. Whoever needs it for longer puts it on the next one, which becomes current
 * after a quarter: long before what some other client has put it on meanwhile can end. Granted when
 * it is needed, one trip. Thread-safe.
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
      if (isCurrent(sentAt)) {
        return CompletableFuture.completedFuture(id);
      }
      CompletableFuture<Long> known = asking;
      if (known != null && !known.isDone()) {
        return known;
      }
      asking = answer;
    } finally {
      mutex.unlock();
    }
    try {
      SharedLease.grant(gateway, seconds)
          .whenComplete((kept, error) -> answered(kept, sentAt, error, answer));
    } catch (RuntimeException | Error e) { // without more calls: it may be of the stack
      answer.completeExceptionally(e);
    }
    return answer;
  }

  private void answered(
      SharedLease.@Nullable Kept kept,
      long sentAt,
      @Nullable Throwable error,
      CompletableFuture<Long> answer) {
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
      answer.completeExceptionally(error == null ? new IllegalStateException() : error);
    }
  }

  /** The id of the lease that is current without a round trip; 0 if there is none. */
  long id() {
    mutex.lock();
    try {
      return isCurrent(System.nanoTime()) ? id : 0;
    } finally {
      mutex.unlock();
    }
  }

  /** Under the mutex. */
  private boolean isCurrent(long now) {
    return id != 0 && now - grantedAt < seconds * 250_000_000L;
  }

  /** Runs a request with it. If etcd no longer has the lease, once more with the next one. */
  <T> CompletableFuture<T> with(LongFunction<CompletableFuture<T>> request) {
    return current()
        .thenCompose(
            on ->
                request
                    .apply(on)
                    .exceptionallyCompose(
                        error -> {
                          Throwable cause = Failures.cause(error);
                          if (!RefusedException.is(cause, Reason.LEASE_GONE)) {
                            return CompletableFuture.failedFuture(cause);
                          }
                          isGone(on);
                          return current().thenCompose(request::apply);
                        }));
  }

  /** Takes notice that etcd no longer has the lease {@code gone}, say since somebody revoked it. */
  void isGone(long gone) {
    mutex.lock();
    try {
      if (id == gone) {
        id = 0;
      }
    } finally {
      mutex.unlock();
    }
  }
}
