package io.pawl.etcd;

import io.pawl.error.StoreException;
import io.pawl.etcd.gateway.Failures;
import io.pawl.etcd.gateway.Gateway;
import io.pawl.etcd.gateway.KeyValue;
import io.pawl.etcd.gateway.Txn;
import io.pawl.etcd.gateway.TxnReply;
import io.pawl.spi.Kind;
import io.pawl.spi.Mode;
import io.pawl.spi.rule.QueueRule;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * How claims stand, by what etcd has: {@link QueueRule} over the order of their creation. A claim
 * that is held stays held while its key exists, so of such a claim the key is all that is read. Of
 * one that waits exclusively the nearest before it is read, of a reader the nearest writer before
 * it, of one that wants permits all before it. Thread-safe.
 */
final class Look {

  private final Gateway gateway;
  private final Keys keys;

  Look(Gateway gateway, Keys keys) {
    this.gateway = gateway;
    this.keys = keys;
  }

  /** How one claim stands. */
  sealed interface Seen {

    /** Its key is not there any more. */
    record Absent() implements Seen {}

    /**
     * @param etcdLease on which its key was
     * @param modRevision at which the key was put so
     */
    record Held(long etcdLease, long modRevision) implements Seen {}

    /**
     * @param blocker the key whose end may change it; null for any of the lock
     * @param first whether that is the first of all, so that its end certainly changes it
     * @param revision of the store at which all of this was so
     */
    record Waits(
        @Nullable String blocker, boolean first, long revision, long etcdLease, long modRevision)
        implements Seen {}
  }

  /**
   * As part of the transaction that makes the claim.
   *
   * @param upTo the claim's create revision, 0 in the transaction that makes it
   */
  List<Txn.Op> reads(String lock, Mode mode, String key, long upTo) {
    String all = keys.claims(lock);
    if (mode instanceof Mode.Exclusive) {
      return List.of(Txn.latest(all, 2, true, upTo), Txn.oldest(all, 1, true));
    }
    if (mode instanceof Mode.Shared) {
      return List.of(
          Txn.getKeyOnly(key),
          Txn.latest(keys.writers(lock), 1, false, upTo),
          Txn.oldest(all, 1, true));
    }
    return List.of(Txn.oldest(all, 0, false, upTo), Txn.get(keys.kind(lock)));
  }

  /** A claim in a transaction that reads, and which of its operations are the claim's. */
  private record Question(LocalClaim local, boolean held, int from) {}

  /**
   * Reads how claims stand. One round trip for about fifty that wait or a hundred that are held.
   */
  CompletableFuture<Map<LocalClaim, Seen>> at(Collection<LocalClaim> claims) {
    Map<LocalClaim, Seen> seen = new ConcurrentHashMap<>();
    AtomicReference<Throwable> failure = new AtomicReference<>();
    List<CompletableFuture<?>> parts = new ArrayList<>();
    List<Question> part = new ArrayList<>();
    List<Txn.Op> ops = new ArrayList<>();
    for (LocalClaim local : claims) {
      boolean held = local.held;
      List<Txn.Op> more =
          held
              ? List.of(Txn.getKeyOnly(local.key))
              : reads(local.lock(), local.mode(), local.key, local.createRevision);
      if (ops.size() + more.size() > Txn.MAX_OPS) {
        parts.add(read(List.copyOf(part), List.copyOf(ops), seen, failure));
        part.clear();
        ops.clear();
      }
      part.add(new Question(local, held, ops.size()));
      ops.addAll(more);
    }
    if (!part.isEmpty()) {
      parts.add(read(part, ops, seen, failure));
    }
    return CompletableFuture.allOf(parts.toArray(CompletableFuture[]::new))
        .thenCompose(
            nothing -> {
              Throwable why = failure.get();
              return why != null && seen.isEmpty()
                  ? CompletableFuture.failedFuture(why)
                  : CompletableFuture.completedFuture(seen);
            });
  }

  private CompletableFuture<?> read(
      List<Question> part,
      List<Txn.Op> ops,
      Map<LocalClaim, Seen> seen,
      AtomicReference<Throwable> failure) {
    return gateway
        .txn(Txn.of(ops.toArray(Txn.Op[]::new)))
        .thenAccept(
            reply -> {
              for (Question each : part) {
                try {
                  seen.put(each.local(), seen(each, reply));
                } catch (StoreException unreadable) {
                  failure.set(unreadable); // of this one's neighbours: nobody else's matter
                }
              }
            })
        .exceptionally(
            error -> {
              failure.set(Failures.cause(error));
              return null;
            });
  }

  private Seen seen(Question one, TxnReply reply) {
    LocalClaim local = one.local();
    return one.held()
        ? held(local, reply, one.from())
        : of(local, local.createRevision, reply, one.from());
  }

  private static Seen held(LocalClaim local, TxnReply reply, int from) {
    List<KeyValue> found = reply.found(from);
    return found.isEmpty() || found.get(0).createRevision() != local.createRevision
        ? new Seen.Absent()
        : held(found.get(0));
  }

  private static Seen held(KeyValue own) {
    return new Seen.Held(own.lease(), own.modRevision());
  }

  /**
   * How a claim stands by what {@link #reads(String, Mode, String, long)} brought.
   *
   * @param from the position of the first result
   */
  Seen of(LocalClaim local, long createRevision, TxnReply reply, int from) {
    if (local.mode() instanceof Mode.Exclusive) {
      return exclusive(local.key, createRevision, reply, from);
    }
    if (local.mode() instanceof Mode.Shared) {
      return shared(local.key, createRevision, reply, from);
    }
    return permits(local, createRevision, reply, from);
  }

  private static boolean isOwn(List<KeyValue> found, String key, long createRevision) {
    return !found.isEmpty()
        && found.get(0).key().equals(key)
        && found.get(0).createRevision() == createRevision;
  }

  private static Seen exclusive(String key, long createRevision, TxnReply reply, int from) {
    List<KeyValue> latest = reply.found(from);
    if (!isOwn(latest, key, createRevision)) {
      return new Seen.Absent();
    }
    KeyValue own = latest.get(0);
    return latest.size() == 1
        ? held(own)
        : waits(own, latest.get(1), reply.found(from + 1), reply.revision());
  }

  private static Seen waits(KeyValue own, KeyValue before, List<KeyValue> oldest, long revision) {
    boolean first = oldest.stream().anyMatch(one -> one.key().equals(before.key()));
    return new Seen.Waits(before.key(), first, revision, own.lease(), own.modRevision());
  }

  /** A writer that became a reader has nobody before it, nor has whoever stands behind it. */
  private static Seen shared(String key, long createRevision, TxnReply reply, int from) {
    if (!isOwn(reply.found(from), key, createRevision)) {
      return new Seen.Absent();
    }
    KeyValue own = reply.found(from).get(0);
    List<KeyValue> writer = reply.found(from + 1);
    return writer.isEmpty()
            || QueueRule.passes(Mode.SHARED, StoredClaim.parse(writer.get(0)).mode())
        ? held(own)
        : waits(own, writer.get(0), reply.found(from + 2), reply.revision());
  }

  private static Seen permits(LocalClaim local, long createRevision, TxnReply reply, int from) {
    List<KeyValue> all = reply.found(from);
    Kind kind =
        reply.found(from + 1).stream()
            .findFirst()
            .map(StoredKind::parse)
            .map(StoredKind::kind)
            .orElse(new Kind(local.mode().capacity()));
    QueueRule rule = new QueueRule(kind);
    for (KeyValue each : all) {
      StoredClaim stored = StoredClaim.parse(each);
      boolean fits = rule.holdsNext(stored.mode()) || stored.granted();
      if (each.key().equals(local.key) && each.createRevision() == createRevision) {
        return fits
            ? held(each)
            : new Seen.Waits(null, false, reply.revision(), each.lease(), each.modRevision());
      }
    }
    return new Seen.Absent();
  }

  /** Whether a claim of {@code mode} would be held behind {@code all}, the claims of a lock. */
  static boolean fitsBehind(List<KeyValue> all, Mode mode, Optional<StoredKind> kind) {
    QueueRule rule = new QueueRule(kind.map(StoredKind::kind).orElse(new Kind(mode.capacity())));
    all.forEach(each -> rule.holdsNext(StoredClaim.parse(each).mode()));
    return rule.holdsNext(mode);
  }
}
