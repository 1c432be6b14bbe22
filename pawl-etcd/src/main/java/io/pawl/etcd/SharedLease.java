package io.pawl.etcd;

import io.pawl.error.StoreException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.etcd.gateway.Failures;
import io.pawl.etcd.gateway.Gateway;
import io.pawl.etcd.gateway.Json;
import io.pawl.etcd.gateway.RefusedException;
import io.pawl.etcd.gateway.RefusedException.Reason;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * An etcd lease that claims share. It counts as kept from a moment k where etcd certainly keeps it
 * until k + its time, whatever becomes of etcd's leaders. Where k was too long ago to promise a
 * claim its whole lease, {@link #fresh} asks first. Thread-safe.
 *
 * <h2>What counts</h2>
 *
 * Of etcd's members the leader alone watches the times of leases. A keep-alive moves a time in the
 * leader's memory and leaves no trace elsewhere; a new leader gives every lease its whole time from
 * its promotion on. So two things can go wrong where a leader stands still, is deposed, and goes on
 * before it knows. It answers a keep-alive of which its successor, promoted before, knows nothing.
 * And it finds leases run out by its own memory, and passes their revocation to its successor, who
 * carries it out (etcd asks for its leadership first only where its loop stands still, not where
 * the whole process stood still; before 3.5.13 not at all).
 *
 * <p>An answer's {@code raft_term} is the term of the last entry that the answering member had
 * applied, that is, of an entry that was committed. For a keep-alive it is written down
 * <em>before</em> the leader is asked. A keep-alive sent at k counts from k where three terms are
 * the same T:
 *
 * <ul>
 *   <li>that of an answer which came in before the lease was asked for. The entry that grants it
 *       comes later in the log, so it has T or a larger term; leaders of smaller terms never saw
 *       the lease while they led, and can revoke it neither rightly nor wrongly.
 *   <li>that of the keep-alive's answer. A member that has applied an entry of T is not, and knows
 *       none as, the leader of a smaller term; so the leader that moved the time had T or a larger
 *       term.
 *   <li>that of a linearizable read, sent when the keep-alive's answer was in. A majority has
 *       confirmed its leader since then, so at that moment nobody had been elected with a larger
 *       term than T; and the grant, which was committed, had T itself.
 * </ul>
 *
 * Hence the leader of T moved the time after k and revokes the lease no sooner than k + its time,
 * deposed or not. Whoever leads later was elected after the read, so after k, and gives it its
 * whole time from then on. The grant itself needs no second answer: it is an entry of the log, and
 * counts from the moment at which it was asked for.
 *
 * <p>Where the third term is not the first, the leader has changed: another lease is granted, and
 * {@link Standings} moves claims to it when they are renewed. The old one is left to run out. So it
 * is when etcd says that the lease is gone, and where the cluster was restored from a backup, whose
 * first term may be the same: a lease of that backup has claims that were given back since.
 *
 * <p>Not covered: checkpoints of leases longer than five minutes, an experiment of etcd's 3.4 and
 * 3.5 that is off by default, may let a new leader begin with some seconds less.
 */
final class SharedLease {

  /** How much faster than ours etcd's clock may run. */
  private static final double DRIFT = 0.01;

  private static final long SECOND_NANOS = 1_000_000_000;

  /** How often a keep-alive may be answered from another term than the read after it. */
  private static final int MOST_TRIES = 3;

  private final Gateway gateway;
  private final Keys keys;
  private final long askedSeconds;
  private final long periodNanos;
  private final Passes passes;
  private final ReentrantLock mutex = new ReentrantLock();
  private @Nullable Kept kept;
  private long usedAt;
  private long askedAt;
  private @Nullable CompletableFuture<Long> asking;

  /**
   * @param periodNanos how often it is kept alive while it is used
   */
  SharedLease(Gateway gateway, Keys keys, long seconds, long periodNanos) {
    this.gateway = gateway;
    this.keys = keys;
    this.askedSeconds = seconds;
    this.periodNanos = periodNanos;
    this.passes = new Passes(gateway, keys);
    this.usedAt = System.nanoTime();
  }

  long periodNanos() {
    return periodNanos;
  }

  /** The current id, 0 for none. */
  long id() {
    mutex.lock();
    try {
      return kept == null ? 0 : kept.id;
    } finally {
      mutex.unlock();
    }
  }

  /** Whether it is {@code id}, and keeps a claim for {@code leaseMillis} from {@code from} on. */
  boolean keeps(long id, long leaseMillis, long from) {
    mutex.lock();
    try {
      return kept != null && kept.id == id && kept.covers(leaseMillis, from);
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
      Kept known = kept;
      if (known != null && known.covers(leaseMillis, now)) {
        return CompletableFuture.completedFuture(known.id);
      }
      if (tries == 0) {
        return CompletableFuture.failedFuture(unconfirmed());
      }
      answer = ask();
    } finally {
      mutex.unlock();
    }
    return answer.thenCompose(asked -> fresh(leaseMillis, now, tries - 1));
  }

  private StoreUnavailableException unconfirmed() {
    return StoreUnavailableException.unsent(
        "store '" + gateway.target() + "' did not confirm a lease: its leader keeps changing",
        null);
  }

  /** As {@link #fresh}, with the pass for an attempt: one transaction more for the first. */
  CompletableFuture<Passes.Pass> pass(long leaseMillis) {
    return fresh(leaseMillis).thenCompose(passes::on);
  }

  /** Takes notice that the pass under {@code key} is no more. */
  void isVoid(String key) {
    passes.isVoid(key);
  }

  /** Keeps it alive if the time for it has come. */
  void keepAlive(long now) {
    mutex.lock();
    try {
      if (kept != null && asking == null && now - askedAt >= periodNanos) {
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
    Kept gone;
    mutex.lock();
    try {
      if (now - usedAt < nanos) {
        return CompletableFuture.completedFuture(null);
      }
      gone = kept;
      kept = null;
      passes.forget();
    } finally {
      mutex.unlock();
    }
    return gone == null
        ? CompletableFuture.completedFuture(null)
        : gateway.call("/v3/lease/revoke", "{\"ID\":\"" + gone.id + "\"}");
  }

  /** Under the mutex. */
  private CompletableFuture<Long> ask() {
    CompletableFuture<Long> known = asking;
    if (known != null) {
      return known;
    }
    askedAt = System.nanoTime();
    Kept old = kept;
    CompletableFuture<Long> answer;
    try {
      CompletableFuture<Kept> asked =
          old == null ? grant(gateway, askedSeconds) : keep(old, MOST_TRIES);
      answer = new CompletableFuture<>();
      asking = answer;
      asked.whenComplete((now, error) -> answered(now, old, error, answer));
    } catch (RuntimeException | Error e) {
      asking = null;
      return CompletableFuture.failedFuture(e);
    }
    return answer;
  }

  private void answered(
      @Nullable Kept now,
      @Nullable Kept old,
      @Nullable Throwable error,
      CompletableFuture<Long> answer) {
    mutex.lock();
    try {
      asking = null;
      if (now != null && kept == old) {
        kept = now;
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
   * @param seconds its time to live, which may be longer than asked for; 0 if it is gone again
   * @param term a term of the cluster's at the latest when the lease was asked for
   * @param history the cluster's then
   * @param at from when on etcd keeps it for its time, in terms of {@link System#nanoTime}
   */
  record Kept(long id, long seconds, long term, long history, long at) {

    boolean covers(long leaseMillis, long now) {
      double spare = (seconds * SECOND_NANOS - leaseMillis * 1_000_000.0) * (1 - DRIFT);
      return now - at <= spare;
    }
  }

  /** Keeps it alive, or has another one granted. Two trips, both without an entry of the log. */
  private CompletableFuture<Kept> keep(Kept old, int tries) {
    long sentAt = System.nanoTime();
    return keepAlive(gateway, old.id)
        .thenCompose(
            alive ->
                alive.seconds == 0
                    ? grant(gateway, askedSeconds)
                    : gateway
                        .readTerm(keys.kinds())
                        .thenCompose(term -> confirmed(old, alive, sentAt, term, tries)));
  }

  private CompletableFuture<Kept> confirmed(
      Kept old, Alive alive, long sentAt, long term, int tries) {
    if (term == 0 || term != old.term || gateway.history() != old.history) {
      return grant(gateway, askedSeconds);
    }
    if (alive.term == term) {
      return CompletableFuture.completedFuture(
          new Kept(old.id, alive.seconds, term, old.history, sentAt));
    }
    return tries == 1 ? CompletableFuture.failedFuture(unconfirmed()) : keep(old, tries - 1);
  }

  /**
   * The answer to a keep-alive.
   *
   * @param seconds 0 if the lease is gone
   */
  private record Alive(long seconds, long term) {}

  private static CompletableFuture<Alive> keepAlive(Gateway gateway, long id) {
    return gateway
        .call("/v3/lease/keepalive", "{\"ID\":\"" + id + "\"}")
        .thenApply(reply -> new Alive(Json.number(reply, "TTL"), Gateway.termOf(reply)))
        .exceptionally(
            error -> {
              if (RefusedException.is(Failures.cause(error), Reason.LEASE_GONE)) {
                return new Alive(0, 0);
              }
              throw asUnchecked(error);
            });
  }

  /** Grants a lease. The id is ours, so a repetition finds what the first copy made. */
  static CompletableFuture<Kept> grant(Gateway gateway, long seconds) {
    long id = ThreadLocalRandom.current().nextLong(1, Long.MAX_VALUE);
    long term = gateway.term();
    long history = gateway.history();
    long sentAt = System.nanoTime();
    return gateway
        .call("/v3/lease/grant", "{\"TTL\":\"" + seconds + "\",\"ID\":\"" + id + "\"}")
        .thenApply(reply -> Json.number(reply, "TTL"))
        .exceptionallyCompose(
            error ->
                RefusedException.is(Failures.cause(error), Reason.LEASE_EXISTS)
                    ? keepAlive(gateway, id).thenApply(Alive::seconds)
                    : CompletableFuture.failedFuture(Failures.cause(error)))
        .thenApply(granted -> new Kept(id, granted, term, history, sentAt));
  }

  static RuntimeException asUnchecked(Throwable error) {
    Throwable cause = Failures.cause(error);
    return cause instanceof RuntimeException known
        ? known
        : new StoreException("failed unexpectedly: " + cause, cause);
  }
}
