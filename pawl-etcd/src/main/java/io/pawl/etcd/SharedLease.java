package io.pawl.etcd;

import io.pawl.error.StoreException;
import io.pawl.etcd.gateway.Failures;
import io.pawl.etcd.gateway.Gateway;
import io.pawl.etcd.gateway.Json;
import io.pawl.etcd.gateway.RefusedException;
import io.pawl.etcd.gateway.RefusedException.Reason;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * An etcd lease that claims share. It counts as kept from the moment at which the last answered
 * grant or keep-alive was <em>made</em>, so etcd keeps it for at least its time from then. Where
 * that was too long ago to promise a claim its whole lease, {@link #fresh} asks first.
 *
 * <p>When etcd says that it is gone, it is granted anew under another id; claims of the old id are
 * lost. Thread-safe.
 */
final class SharedLease {

  /** How much faster than ours etcd's clock may run. */
  private static final double DRIFT = 0.01;

  private static final long SECOND_NANOS = 1_000_000_000;

  private final Gateway gateway;
  private final long askedSeconds;
  private final long periodNanos;
  private final ReentrantLock mutex = new ReentrantLock();
  private long id;
  private long seconds;
  private long keptAt;
  private long usedAt;
  private long askedAt;
  private @Nullable CompletableFuture<Long> asking;

  /**
   * @param periodNanos how often it is kept alive while it is used
   */
  SharedLease(Gateway gateway, long seconds, long periodNanos) {
    this.gateway = gateway;
    this.askedSeconds = seconds;
    this.seconds = seconds;
    this.periodNanos = periodNanos;
    this.usedAt = System.nanoTime();
  }

  long periodNanos() {
    return periodNanos;
  }

  /** The current id, 0 for none. */
  long id() {
    mutex.lock();
    try {
      return id;
    } finally {
      mutex.unlock();
    }
  }

  /** Somebody is about to use it. */
  void touch(long now) {
    mutex.lock();
    try {
      usedAt = now;
    } finally {
      mutex.unlock();
    }
  }

  /** Whether it was asked for within {@code nanos}. */
  boolean usedWithin(long nanos, long now) {
    mutex.lock();
    try {
      return now - usedAt < nanos;
    } finally {
      mutex.unlock();
    }
  }

  /**
   * Returns the id of the lease, of which a claim made or renewed now is kept for {@code
   * leaseMillis} from now. No round trip unless it was kept alive too long ago.
   */
  CompletableFuture<Long> fresh(long leaseMillis) {
    return fresh(leaseMillis, System.nanoTime(), 3);
  }

  private CompletableFuture<Long> fresh(long leaseMillis, long now, int tries) {
    CompletableFuture<Long> answer;
    mutex.lock();
    try {
      usedAt = now;
      if (covers(leaseMillis, now)) {
        return CompletableFuture.completedFuture(id);
      }
      answer = ask();
    } finally {
      mutex.unlock();
    }
    return answer.thenCompose(
        asked ->
            coversNow(leaseMillis, now) || tries == 1
                ? CompletableFuture.completedFuture(asked)
                : fresh(leaseMillis, now, tries - 1));
  }

  private boolean coversNow(long leaseMillis, long now) {
    mutex.lock();
    try {
      return covers(leaseMillis, now);
    } finally {
      mutex.unlock();
    }
  }

  private boolean covers(long leaseMillis, long now) {
    double spare = (seconds * SECOND_NANOS - leaseMillis * 1_000_000.0) * (1 - DRIFT);
    return id != 0 && now - keptAt <= spare;
  }

  /** Keeps it alive if the time for it has come. */
  void keepAlive(long now) {
    mutex.lock();
    try {
      if (id != 0 && asking == null && now - askedAt >= periodNanos) {
        ask();
      }
    } finally {
      mutex.unlock();
    }
  }

  /** Asks etcd whether it is still there, and has it granted anew if not. */
  CompletableFuture<Long> check() {
    mutex.lock();
    try {
      return ask();
    } finally {
      mutex.unlock();
    }
  }

  /**
   * Ends it, and with it whatever is attached to it, unless it was asked for within {@code nanos}.
   * No claim of it may be alive.
   */
  CompletableFuture<?> revoke(long nanos, long now) {
    long gone;
    mutex.lock();
    try {
      gone = now - usedAt < nanos ? 0 : id;
      id = gone == 0 ? id : 0;
    } finally {
      mutex.unlock();
    }
    return gone == 0
        ? CompletableFuture.completedFuture(null)
        : gateway.call("/v3/lease/revoke", "{\"ID\":\"" + gone + "\"}");
  }

  /** Under the mutex. */
  private CompletableFuture<Long> ask() {
    CompletableFuture<Long> known = asking;
    if (known != null) {
      return known;
    }
    askedAt = System.nanoTime();
    long sentAt = askedAt;
    long old = id;
    CompletableFuture<Long> answer = new CompletableFuture<>();
    asking = answer;
    CompletableFuture<Kept> kept = old == 0 ? grant(gateway, askedSeconds) : keep(gateway, old);
    kept.thenCompose(
            now ->
                now.seconds > 0
                    ? CompletableFuture.completedFuture(now)
                    : grant(gateway, askedSeconds))
        .whenComplete((now, error) -> answered(now, old, sentAt, error, answer));
    return answer;
  }

  private void answered(
      @Nullable Kept now,
      long old,
      long sentAt,
      @Nullable Throwable error,
      CompletableFuture<Long> answer) {
    mutex.lock();
    try {
      asking = null;
      if (now != null && (id == old || id == 0)) {
        id = now.id;
        seconds = Math.max(1, now.seconds);
        keptAt = sentAt;
      }
    } finally {
      mutex.unlock();
    }
    if (now != null) {
      answer.complete(now.id);
    } else {
      answer.completeExceptionally(error == null ? new IllegalStateException() : error);
    }
  }

  /**
   * A lease as etcd has it.
   *
   * @param seconds its time to live, which may be longer than asked for; 0 if it is gone
   */
  record Kept(long id, long seconds) {}

  private static CompletableFuture<Kept> keep(Gateway gateway, long id) {
    return gateway
        .call("/v3/lease/keepalive", "{\"ID\":\"" + id + "\"}")
        .thenApply(reply -> new Kept(id, Json.number(reply, "TTL")))
        .exceptionally(
            error -> {
              if (RefusedException.is(Failures.cause(error), Reason.LEASE_GONE)) {
                return new Kept(id, 0);
              }
              throw asUnchecked(error);
            });
  }

  /** Grants a lease. The id is ours, so a repetition finds what the first copy made. */
  static CompletableFuture<Kept> grant(Gateway gateway, long seconds) {
    long id = ThreadLocalRandom.current().nextLong(1, Long.MAX_VALUE);
    return gateway
        .call("/v3/lease/grant", "{\"TTL\":\"" + seconds + "\",\"ID\":\"" + id + "\"}")
        .handle(
            (Map<String, Object> reply, Throwable error) -> {
              if (reply != null) {
                return CompletableFuture.completedFuture(new Kept(id, Json.number(reply, "TTL")));
              }
              return RefusedException.is(Failures.cause(error), Reason.LEASE_EXISTS)
                  ? keep(gateway, id)
                  : CompletableFuture.<Kept>failedFuture(Failures.cause(error));
            })
        .thenCompose(stage -> stage);
  }

  static RuntimeException asUnchecked(Throwable error) {
    Throwable cause = Failures.cause(error);
    return cause instanceof RuntimeException known
        ? known
        : new StoreException("failed unexpectedly: " + cause, cause);
  }
}
