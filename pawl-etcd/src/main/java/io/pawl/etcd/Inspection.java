package io.pawl.etcd;

import io.pawl.error.StoreException;
import io.pawl.etcd.gateway.Gateway;
import io.pawl.etcd.gateway.Json;
import io.pawl.etcd.gateway.KeyValue;
import io.pawl.etcd.gateway.Txn;
import io.pawl.etcd.gateway.TxnReply;
import io.pawl.spi.Inspectable.ClaimView;
import io.pawl.spi.Inspectable.LockView;
import io.pawl.spi.Kind;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import io.pawl.spi.rule.QueueRule;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What people see of locks, and how they correct them. Thread-safe. */
final class Inspection {

  private static final Logger log = LoggerFactory.getLogger(Inspection.class);
  private static final int PAGE = 500;

  /** A list takes as long as there are locks. */
  private static final Duration ANY = Duration.ofDays(1);

  /** How many locks one transaction reads. */
  private static final int STEP = Txn.MAX_OPS / 2;

  private static final int MOST_TRIES = 10;

  /** Of one transaction's conditions. */
  private static final int MOST_CLAIMS = Txn.MAX_OPS - 4;

  private final Gateway gateway;
  private final Keys keys;
  private final Kinds kinds;

  Inspection(Gateway gateway, Keys keys, Kinds kinds) {
    this.gateway = gateway;
    this.keys = keys;
    this.kinds = kinds;
  }

  /** One lock as it is stored. */
  private record Stored(@Nullable KeyValue kindKey, List<KeyValue> claims, long revision) {

    @Nullable StoredKind kind() {
      return kindKey == null ? null : StoredKind.parse(kindKey);
    }

    long base() {
      StoredKind kind = kind();
      return kind == null ? 0 : kind.base();
    }

    Kind kindOfClaims() {
      StoredKind kind = kind();
      return kind != null
          ? kind.kind()
          : new Kind(claims.isEmpty() ? 0 : StoredClaim.parse(claims.get(0)).mode().capacity());
    }

    List<KeyValue> holders() {
      QueueRule rule = new QueueRule(kindOfClaims());
      return claims.stream()
          .filter(
              each -> {
                StoredClaim claim = StoredClaim.parse(each);
                return rule.holdsNext(claim.mode()) | claim.granted();
              })
          .toList();
    }
  }

  private CompletableFuture<Stored> read(String lock) {
    return read(List.of(lock)).thenApply(all -> all.get(0));
  }

  private CompletableFuture<List<Stored>> read(List<String> locks) {
    List<Txn.Op> reads = new ArrayList<>();
    for (String lock : locks) {
      reads.add(Txn.get(keys.kind(lock)));
      reads.add(Txn.oldest(keys.claims(lock), 0, false));
    }
    return gateway
        .look(Txn.of(reads.toArray(Txn.Op[]::new)))
        .thenApply(
            reply -> IntStream.range(0, locks.size()).mapToObj(i -> stored(reply, 2 * i)).toList());
  }

  private static Stored stored(TxnReply reply, int from) {
    List<KeyValue> kind = reply.found(from);
    return new Stored(kind.isEmpty() ? null : kind.get(0), reply.found(from + 1), reply.revision());
  }

  CompletableFuture<Optional<LockView>> show(String lock) {
    return read(lock)
        .thenCompose(
            stored ->
                stored.kindKey == null && stored.claims.isEmpty()
                    ? CompletableFuture.completedFuture(Optional.empty())
                    : ends(List.of(stored), new HashMap<>(), gateway.target().timeout())
                        .thenApply(ends -> Optional.of(view(lock, stored, ends))));
  }

  /**
   * When the leases of claims run out, by this client's clock: asked one after another.
   *
   * @param atMost for how long leases are asked for, holders' first; what is left out seems to end
   */
  private CompletableFuture<Map<Long, Instant>> ends(
      List<Stored> locks, Map<Long, Instant> known, Duration atMost) {
    Iterator<Long> unknown =
        locks.stream()
            .flatMap(lock -> lock.claims.stream())
            .map(KeyValue::lease)
            .filter(lease -> lease != 0 && !known.containsKey(lease))
            .distinct()
            .limit(PAGE)
            .toList()
            .iterator();
    return ends(unknown, known, System.nanoTime() + atMost.toNanos());
  }

  private CompletableFuture<Map<Long, Instant>> ends(
      Iterator<Long> unknown, Map<Long, Instant> known, long giveUpAt) {
    if (!unknown.hasNext() || System.nanoTime() - giveUpAt > 0) {
      return CompletableFuture.completedFuture(known);
    }
    long id = unknown.next();
    return gateway
        .lookCall("/v3/lease/timetolive", "{\"ID\":\"" + id + "\"}")
        .thenCompose(
            reply -> {
              known.put(id, endOf(Json.number(reply, "TTL")));
              return ends(unknown, known, giveUpAt);
            });
  }

  private static Instant endOf(long seconds) {
    return Instant.now().plusSeconds(Math.max(0, seconds));
  }

  private static LockView view(String lock, Stored stored, Map<Long, Instant> ends) {
    List<KeyValue> held = stored.holders();
    List<ClaimView> holders = held.stream().map(each -> claim(lock, each, true, ends)).toList();
    List<ClaimView> waiters =
        stored.claims.stream()
            .filter(each -> !held.contains(each))
            .map(each -> claim(lock, each, false, ends))
            .toList();
    long last =
        held.isEmpty()
            ? StoredClaim.firstToken(stored.base(), stored.revision + 1) - 1
            : holders.get(holders.size() - 1).lastToken();
    return new LockView(
        lock,
        stored.kindKey == null && held.isEmpty() ? null : stored.kindOfClaims(),
        last,
        holders,
        waiters);
  }

  private static ClaimView claim(
      String lock, KeyValue stored, boolean held, Map<Long, Instant> ends) {
    StoredClaim claim = StoredClaim.parse(stored);
    Standing.Held tokens = held ? claim.held(lock, stored.createRevision()) : null;
    Instant until = ends.getOrDefault(stored.lease(), Instant.now());
    return new ClaimView(
        Keys.idOf(stored.key()),
        claim.mode(),
        tokens == null ? 0 : tokens.token(),
        tokens == null ? 0 : tokens.lastToken(),
        claim.since(),
        until.isAfter(claim.since()) ? until : claim.since().plusMillis(1),
        claim.holder());
  }

  CompletableFuture<List<LockView>> list(int limit) {
    if (limit < 1) {
      throw new IllegalArgumentException("limit: " + limit + " is not at least 1");
    }
    return list(limit, limit);
  }

  /** Some of the first {@code names} may have ended when they are read: then of more. */
  private CompletableFuture<List<LockView>> list(int limit, int names) {
    return pages(Txn.page(keys.claims(), keys.claims(), PAGE, true), names, new LinkedHashMap<>())
        .thenCompose(
            byLock ->
                views(
                        byLock.keySet().stream().limit(names).toList(),
                        0,
                        new HashMap<>(),
                        new ArrayList<>())
                    .thenCompose(
                        views -> {
                          List<LockView> busy = busy(views);
                          return busy.size() < limit && byLock.size() > names
                              ? list(limit, (int) Math.min(Integer.MAX_VALUE, 2L * names))
                              : CompletableFuture.completedFuture(
                                  busy.stream().limit(limit).toList());
                        }));
  }

  private static List<LockView> busy(List<LockView> views) {
    return views.stream()
        .filter(view -> !view.holders().isEmpty() || !view.waiters().isEmpty())
        .sorted(Comparator.comparing(LockView::name))
        .toList();
  }

  private CompletableFuture<List<LockView>> views(
      List<String> locks, int from, Map<Long, Instant> known, List<LockView> views) {
    if (from >= locks.size()) {
      return CompletableFuture.completedFuture(views);
    }
    List<String> some = locks.subList(from, Math.min(locks.size(), from + STEP));
    return read(some)
        .thenCompose(
            read ->
                ends(read, known, ANY)
                    .thenCompose(
                        ends -> {
                          for (int i = 0; i < some.size(); i++) {
                            addReadable(views, some.get(i), read.get(i), ends);
                          }
                          return views(locks, from + STEP, known, views);
                        }));
  }

  /** Adds a lock if Pawl has written all of it. */
  private static void addReadable(
      List<LockView> views, String lock, Stored stored, Map<Long, Instant> ends) {
    try {
      views.add(view(lock, stored, ends));
    } catch (StoreException e) {
      log.warn("lock '{}' is left out of a list: {}", lock, e.getMessage());
    }
  }

  private CompletableFuture<Map<String, Boolean>> pages(
      Txn.Op next, int limit, Map<String, Boolean> names) {
    return gateway
        .look(Txn.of(next))
        .thenCompose(
            reply -> {
              List<KeyValue> page = reply.found(0);
              for (KeyValue each : page) {
                String name = keys.lockOf(each.key());
                if (name != null) {
                  names.put(name, true);
                }
              }
              return page.size() < PAGE || names.size() > limit
                  ? CompletableFuture.completedFuture(names)
                  : pages(
                      Txn.pageBehind(keys.claims(), page.get(page.size() - 1), PAGE, true),
                      limit,
                      names);
            });
  }

  CompletableFuture<Boolean> evict(String lock, long token) {
    return read(lock)
        .thenCompose(
            stored -> {
              for (KeyValue each : stored.holders()) {
                Standing.Held tokens = StoredClaim.parse(each).held(lock, each.createRevision());
                if (token >= tokens.token() && token <= tokens.lastToken()) {
                  return gateway
                      .txn(
                          Txn.of(
                              List.of(Txn.isOf(each.key(), each.createRevision())),
                              List.of(Txn.delete(each.key())),
                              List.of()))
                      .thenApply(TxnReply::succeeded);
                }
              }
              return CompletableFuture.completedFuture(false);
            });
  }

  CompletableFuture<Boolean> setKind(String lock, Kind kind) {
    return setKind(lock, kind, 1);
  }

  private CompletableFuture<Boolean> setKind(String lock, Kind kind, int tries) {
    return read(lock)
        .thenCompose(
            stored -> {
              Kind was = stored.kindOfClaims();
              if (!stored.claims.isEmpty() && was.isSemaphore() != kind.isSemaphore()) {
                return CompletableFuture.completedFuture(false);
              }
              StoredKind now = new StoredKind(kind, stored.base());
              return kinds
                  .on(now, lease -> gateway.txn(change(lock, now, stored, lease)))
                  .thenCompose(reply -> changed(lock, kind, reply.succeeded(), tries));
            });
  }

  private CompletableFuture<Boolean> changed(String lock, Kind kind, boolean done, int tries) {
    if (done) {
      return CompletableFuture.completedFuture(true);
    }
    return tries < MOST_TRIES
        ? setKind(lock, kind, tries + 1)
        : CompletableFuture.failedFuture(
            new StoreException(
                "lock '"
                    + lock
                    + "': its claims changed "
                    + MOST_TRIES
                    + " times while its kind was set; try again"));
  }

  /**
   * With fewer permits the kind changes only if every claim that was read is still there and no
   * other came: then those are held that were. Such as would not be any more are marked; those that
   * want too much lose their place.
   */
  private Txn change(String lock, StoredKind now, Stored stored, long lease) {
    String kindKey = keys.kind(lock);
    Kind kind = now.kind();
    List<Txn.Compare> conditions = new ArrayList<>();
    List<Txn.Op> ops = new ArrayList<>();
    KeyValue was = stored.kindKey;
    conditions.add(Txn.isUnchanged(kindKey, was == null ? 0 : was.modRevision()));
    ops.add(Txn.put(kindKey, now.toString(), lease));
    if (stored.kindOfClaims().isSemaphore() != kind.isSemaphore()) {
      conditions.add(Txn.isEmpty(keys.claims(lock)));
    } else if (kind.capacity() < stored.kindOfClaims().capacity()) {
      shrink(lock, kind, stored, conditions, ops);
    }
    return Txn.of(conditions, ops, List.of()).alone();
  }

  private void shrink(
      String lock, Kind kind, Stored stored, List<Txn.Compare> conditions, List<Txn.Op> ops) {
    if (stored.claims.size() > MOST_CLAIMS) {
      throw new StoreException(
          "lock '"
              + lock
              + "': etcd cannot take permits away beside "
              + stored.claims.size()
              + " claims at once, "
              + MOST_CLAIMS
              + " at most; try again when fewer hold it or wait");
    }
    conditions.add(Txn.allBefore(keys.claims(lock), stored.revision + 1));
    List<KeyValue> held = stored.holders();
    QueueRule after = new QueueRule(kind);
    for (KeyValue each : stored.claims) {
      StoredClaim claim = StoredClaim.parse(each);
      conditions.add(Txn.isUnchanged(each.key(), each.modRevision()));
      if (held.contains(each)) {
        if (!after.holdsNext(claim.mode()) && !claim.granted()) {
          ops.add(Txn.put(each.key(), claim.asGranted().text(), each.lease()));
        }
      } else if (claim.mode() instanceof Mode.Permits permits
          && permits.wanted() > kind.capacity()) {
        ops.add(Txn.delete(each.key()));
      }
    }
  }
}
