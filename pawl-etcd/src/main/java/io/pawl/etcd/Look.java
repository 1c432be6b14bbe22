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
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
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
      Txn.Op nearest = Txn.latest(all, 2, true, upTo);
      return upTo == 0 ? List.of(nearest) : List.of(nearest, Txn.oldest(all, 1, true));
    }
    if (mode instanceof Mode.Shared) {
      return List.of(
          Txn.getKeyOnly(key),
          Txn.latest(keys.writers(lock), 1, false, upTo),
          Txn.oldest(all, 1, true));
    }
    return List.of(Txn.oldest(all, 0, false, upTo), Txn.get(keys.kind(lock)));
  }

  /**
   * A claim in a transaction that reads, and which of its operations are the claim's.
   *
   * @param mode of the claim when it was asked: it may be another one when the answer comes
   * @param alone whether its key is all that is read
   * @param from the first operation; claims for permits of one lock share theirs
   * @param behind whether the claim of the question before stands before it
   */
  private record Question(LocalClaim local, Mode mode, boolean alone, boolean behind, int from) {}

  /**
   * Reads how claims stand. One round trip for about a hundred. Of claims of one lock that wait
   * exclusively, the neighbour of the first alone is read: etcd sorts the whole queue for it. For
   * those of one lock that want permits, its claims are read once.
   */
  CompletableFuture<Map<LocalClaim, Seen>> at(Collection<LocalClaim> claims) {
    Map<LocalClaim, Seen> seen = new ConcurrentHashMap<>();
    AtomicReference<Throwable> failure = new AtomicReference<>();
    return at(claims, seen, failure)
        .thenCompose(
            nothing -> {
              Throwable why = failure.get();
              return why != null && seen.isEmpty()
                  ? CompletableFuture.failedFuture(why)
                  : CompletableFuture.completedFuture(seen);
            });
  }

  private CompletableFuture<?> at(
      Collection<LocalClaim> claims,
      Map<LocalClaim, Seen> seen,
      AtomicReference<Throwable> failure) {
    List<LocalClaim> inOrder = new ArrayList<>(claims);
    inOrder.sort(Comparator.comparing(LocalClaim::lock).thenComparing(one -> one.createRevision));
    Set<LocalClaim> orphans = ConcurrentHashMap.newKeySet();
    List<CompletableFuture<?>> parts = new ArrayList<>();
    List<Question> part = new ArrayList<>();
    List<Txn.Op> ops = new ArrayList<>();
    Map<String, Long> lastOfPermits = lastOfPermits(inOrder);
    LocalClaim last = null;
    int permitsFrom = 0;
    for (LocalClaim local : inOrder) {
      boolean held = local.held;
      Mode mode = local.mode();
      if (!held && last != null && !part.isEmpty() && wantPermits(local, last)) {
        part.add(new Question(local, mode, false, false, permitsFrom));
        continue;
      }
      boolean isBehind = !held && last != null && isBehind(local, last);
      long upTo =
          mode instanceof Mode.Permits
              ? lastOfPermits.getOrDefault(local.lock(), local.createRevision)
              : local.createRevision;
      List<Txn.Op> more = ops(local, mode, held || isBehind, upTo);
      if (ops.size() + more.size() > Txn.MAX_OPS) {
        parts.add(read(List.copyOf(part), List.copyOf(ops), seen, orphans, failure));
        part.clear();
        ops.clear();
        isBehind = false;
        more = ops(local, mode, held, upTo);
      }
      part.add(new Question(local, mode, held || isBehind, isBehind, ops.size()));
      permitsFrom = ops.size();
      ops.addAll(more);
      last = held ? null : local;
    }
    if (!part.isEmpty()) {
      parts.add(read(part, ops, seen, orphans, failure));
    }
    return CompletableFuture.allOf(parts.toArray(CompletableFuture[]::new))
        .thenCompose(
            nothing ->
                orphans.isEmpty()
                    ? CompletableFuture.completedFuture(null)
                    : at(orphans, seen, failure));
  }

  /** Up to where the claims of each lock are read for those that want permits, all at once. */
  private static Map<String, Long> lastOfPermits(List<LocalClaim> inOrder) {
    Map<String, Long> last = new HashMap<>();
    for (LocalClaim local : inOrder) {
      if (local.mode() instanceof Mode.Permits) {
        last.put(local.lock(), local.createRevision);
      }
    }
    return last;
  }

  private static boolean wantPermits(LocalClaim local, LocalClaim other) {
    return local.mode() instanceof Mode.Permits
        && other.mode() instanceof Mode.Permits
        && local.lock().equals(other.lock());
  }

  private static boolean isBehind(LocalClaim local, LocalClaim other) {
    return local.mode() instanceof Mode.Exclusive
        && other.mode() instanceof Mode.Exclusive
        && local.lock().equals(other.lock());
  }

  private List<Txn.Op> ops(LocalClaim local, Mode mode, boolean alone, long upTo) {
    return alone ? List.of(Txn.getKeyOnly(local.key)) : reads(local.lock(), mode, local.key, upTo);
  }

  private CompletableFuture<?> read(
      List<Question> part,
      List<Txn.Op> ops,
      Map<LocalClaim, Seen> seen,
      Set<LocalClaim> orphans,
      AtomicReference<Throwable> failure) {
    return gateway
        .txn(Txn.of(ops.toArray(Txn.Op[]::new)))
        .thenAccept(
            reply -> {
              Map<Integer, PermitsLine> lines = new HashMap<>();
              LocalClaim nearest = null;
              for (Question each : part) {
                LocalClaim before = each.behind() ? nearest : null;
                boolean isThere = false;
                try {
                  isThere = told(each, before, reply, seen, orphans, lines);
                } catch (StoreException unreadable) {
                  failure.set(unreadable); // of this one's neighbours: nobody else's matter
                }
                nearest = isThere ? each.local() : before;
              }
            })
        .exceptionally(
            error -> {
              failure.set(Failures.cause(error));
              return null;
            });
  }

  /** Says how a claim stands, or that it has to be asked once more; returns whether it is there. */
  private boolean told(
      Question one,
      @Nullable LocalClaim before,
      TxnReply reply,
      Map<LocalClaim, Seen> seen,
      Set<LocalClaim> orphans,
      Map<Integer, PermitsLine> lines) {
    LocalClaim local = one.local();
    Seen found;
    if (one.alone()) {
      found = held(local, reply, one.from());
    } else if (one.mode() instanceof Mode.Permits) {
      found =
          lines
              .computeIfAbsent(one.from(), from -> new PermitsLine(one.mode(), reply, from))
              .of(local.key, local.createRevision);
    } else {
      found = of(local, one.mode(), local.createRevision, reply, one.from());
    }
    if (one.behind() && found instanceof Seen.Held own) {
      if (before == null) {
        orphans.add(local);
        return true;
      }
      found =
          new Seen.Waits(before.key, false, reply.revision(), own.etcdLease(), own.modRevision());
    }
    seen.put(local, found);
    return !(found instanceof Seen.Absent);
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
   * @param mode for which they were
   * @param from the position of the first result
   */
  Seen of(LocalClaim local, Mode mode, long createRevision, TxnReply reply, int from) {
    if (mode instanceof Mode.Exclusive) {
      return exclusive(local.key, createRevision, reply, from);
    }
    if (mode instanceof Mode.Shared) {
      return shared(local.key, createRevision, reply, from);
    }
    return new PermitsLine(mode, reply, from).of(local.key, createRevision);
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
    if (latest.size() == 1) {
      return held(own);
    }
    KeyValue before = latest.get(1);
    boolean areAll = reply.results().get(from).count() == latest.size();
    return waits(own, before, areAll || isOldest(before, reply, from + 1), reply.revision());
  }

  private static boolean isOldest(KeyValue one, TxnReply reply, int at) {
    return at < reply.results().size()
        && reply.found(at).stream().anyMatch(oldest -> oldest.key().equals(one.key()));
  }

  private static Seen waits(KeyValue own, KeyValue before, boolean first, long revision) {
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
        : waits(own, writer.get(0), isOldest(writer.get(0), reply, from + 2), reply.revision());
  }

  /** All claims of a semaphore, gone through once, and no further than somebody asks. */
  private static final class PermitsLine {
    private record Stood(KeyValue claim, boolean fits) {}

    private final List<KeyValue> all;
    private final long revision;
    private final QueueRule rule;
    private final Map<String, Stood> stood = new HashMap<>();

    PermitsLine(Mode mode, TxnReply reply, int from) {
      this.all = reply.found(from);
      this.revision = reply.revision();
      this.rule =
          new QueueRule(
              reply.found(from + 1).stream()
                  .findFirst()
                  .map(StoredKind::parse)
                  .map(StoredKind::kind)
                  .orElse(new Kind(mode.capacity())));
    }

    /**
     * @throws StoreException if somebody else wrote what stands before it
     */
    Seen of(String key, long createRevision) {
      while (!stood.containsKey(key) && stood.size() < all.size()) {
        KeyValue each = all.get(stood.size());
        StoredClaim stored = StoredClaim.parse(each);
        boolean fits = rule.holdsNext(stored.mode()) || stored.granted();
        stood.put(each.key(), new Stood(each, fits));
      }
      Stood own = stood.get(key);
      if (own == null || own.claim.createRevision() != createRevision) {
        return new Seen.Absent();
      }
      KeyValue claim = own.claim;
      return own.fits
          ? held(claim)
          : new Seen.Waits(null, false, revision, claim.lease(), claim.modRevision());
    }
  }

  /** Whether a claim of {@code mode} would be held behind {@code all}, the claims of a lock. */
  static boolean fitsBehind(List<KeyValue> all, Mode mode, Optional<StoredKind> kind) {
    QueueRule rule = new QueueRule(kind.map(StoredKind::kind).orElse(new Kind(mode.capacity())));
    all.forEach(each -> rule.holdsNext(StoredClaim.parse(each).mode()));
    return rule.holdsNext(mode);
  }
}
