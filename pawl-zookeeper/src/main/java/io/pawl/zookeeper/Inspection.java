package io.pawl.zookeeper;

import io.pawl.error.StoreException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.spi.Inspectable.ClaimView;
import io.pawl.spi.Inspectable.LockView;
import io.pawl.spi.Kind;
import io.pawl.spi.Standing;
import io.pawl.spi.rule.QueueRule;
import io.pawl.zookeeper.Nodes.Place;
import io.pawl.zookeeper.Requests.Node;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What people see of locks, and how they correct them. */
record Inspection(QueuedClaims claims) {

  private static final Logger log = LoggerFactory.getLogger(Inspection.class);

  private static final int MOST_TRIES = 10;

  /** Requests that are under way at a time. */
  private static final int CHUNK = 500;

  /** A claim as it is stored. */
  private record Found(Place place, Stored stored, Node node, boolean alive) {}

  /**
   * A lock as it is stored.
   *
   * @param found its claims in the order of the queue, those of the dead left out
   * @param dead nodes that outlived their client and their time
   */
  private record FoundLock(
      String name, String path, Kind kind, Node node, List<Found> found, List<String> dead) {}

  CompletableFuture<List<LockView>> list(int limit) {
    Requests base = claims.base().ask();
    return base.sync()
        .thenCombine(base.children(claims.nodes().locks()), (synced, names) -> names)
        .thenCompose(
            names -> {
              Map<String, String> byName = new TreeMap<>();
              for (String encoded : names == null ? List.<String>of() : names) {
                String name = Nodes.decoded(encoded);
                if (name != null) {
                  byName.put(name, encoded);
                }
              }
              List<String> ordered = new ArrayList<>(byName.keySet());
              return views(base, ordered, 0, limit, new ArrayList<>());
            });
  }

  private CompletableFuture<List<LockView>> views(
      Requests base, List<String> names, int from, int limit, List<LockView> views) {
    if (from >= names.size() || views.size() >= limit) {
      return CompletableFuture.completedFuture(
          List.copyOf(views.subList(0, Math.min(limit, views.size()))));
    }
    int to = Math.min(names.size(), from + CHUNK);
    List<CompletableFuture<@Nullable Half>> halves =
        names.subList(from, to).stream()
            .map(name -> half(base, name).exceptionally(error -> leftOut(name, error)))
            .toList();
    return CompletableFuture.allOf(halves.toArray(CompletableFuture[]::new))
        .thenCompose(
            nothing -> {
              List<Half> there =
                  halves.stream().map(CompletableFuture::join).filter(Objects::nonNull).toList();
              return claimsOf(base, there)
                  .thenCompose(
                      read -> {
                        there.forEach(half -> addReadable(views, half, read));
                        return views(base, names, to, limit, views);
                      });
            });
  }

  private static void addReadable(List<LockView> views, Half half, Map<String, Answered> read) {
    FoundLock lock;
    try {
      lock = found(half, read, System.currentTimeMillis());
    } catch (CompletionException | StoreException e) {
      leftOut(half.name(), e);
      return;
    }
    if (!lock.found().isEmpty()) {
      views.add(view(lock));
    }
  }

  CompletableFuture<Optional<LockView>> show(String lock) {
    Requests base = claims.base().ask();
    return base.sync()
        .thenCombine(find(base, lock), (synced, found) -> found)
        .thenApply(found -> Optional.ofNullable(found).map(Inspection::view));
  }

  /** Null for a lock that somebody else wrote, or keeps from us; else {@code error} is thrown. */
  private static @Nullable Half leftOut(String name, Throwable error) {
    boolean foreign =
        Failures.cause(error) instanceof StoreException
            && !(Failures.cause(error) instanceof StoreUnavailableException);
    if (foreign || Failures.code(error) == Code.NOAUTH) {
      log.debug("lock '{}' is left out of the list", name, error);
      return null;
    }
    throw Failures.unchecked(error);
  }

  /** For people, by this machine's clock. Null where there is no such lock. */
  private CompletableFuture<@Nullable FoundLock> find(Requests base, String name) {
    return half(base, name)
        .thenCompose(
            half ->
                half == null
                    ? CompletableFuture.<@Nullable FoundLock>completedFuture(null)
                    : claimsOf(base, List.of(half))
                        .thenApply(read -> found(half, read, System.currentTimeMillis())));
  }

  /**
   * To correct it: where a node may stand for a shortest hold alone, the service is asked for its
   * time by a write that changes nothing. Null where there is no such lock.
   */
  private CompletableFuture<@Nullable FoundLock> findByServiceTime(
      Requests base, String name, int tries) {
    if (tries > MOST_TRIES) {
      return CompletableFuture.failedFuture(changesTooFast(name));
    }
    return half(base, name)
        .thenCompose(
            half ->
                half == null
                    ? CompletableFuture.<@Nullable FoundLock>completedFuture(null)
                    : claimsOf(base, List.of(half))
                        .thenCompose(read -> foundByServiceTime(base, half, read, tries)));
  }

  private CompletableFuture<@Nullable FoundLock> foundByServiceTime(
      Requests base, Half half, Map<String, Answered> read, int tries) {
    FoundLock atAnyTime = found(half, read, Long.MIN_VALUE);
    if (atAnyTime.found().stream().allMatch(Found::alive)) {
      return CompletableFuture.completedFuture(atAnyTime);
    }
    return base.write(half.path(), half.node().data(), half.node().stat().getVersion())
        .handle(
            (stat, error) -> {
              if (error == null) {
                Half now =
                    new Half(
                        half.name(), half.path(), new Node(half.node().data(), stat), half.names());
                return CompletableFuture.<@Nullable FoundLock>completedFuture(
                    found(now, read, stat.getMtime()));
              }
              Code code = Failures.code(error);
              return code == Code.BADVERSION || code == Code.NONODE
                  ? findByServiceTime(base, half.name(), tries + 1)
                  : CompletableFuture.<@Nullable FoundLock>failedFuture(error);
            })
        .thenCompose(answer -> answer);
  }

  private StoreUnavailableException changesTooFast(String name) {
    return new StoreUnavailableException(
        claims.settings().shown()
            + ": lock '"
            + name
            + "' changes too fast; try again, and delete what Pawl did not write below "
            + claims.nodes().lock(name));
  }

  /** The node of a lock and the names below it. */
  private record Half(String name, String path, Node node, List<String> names) {

    List<Place> places() {
      return Nodes.places(names);
    }

    String path(Place place) {
      return path + "/" + place.name();
    }
  }

  /** Null where there is no such lock. */
  private CompletableFuture<@Nullable Half> half(Requests base, String name) {
    String path = claims.nodes().lock(name);
    return base.read(path, null)
        .thenCombine(
            base.children(path),
            (node, names) ->
                node == null || names == null ? null : new Half(name, path, node, names));
  }

  /** What was answered of the node of a claim: it is missing, or we have no right to it. */
  private record Answered(@Nullable Node node, @Nullable Throwable denied) {}

  private static CompletableFuture<Map<String, Answered>> claimsOf(
      Requests base, List<Half> halves) {
    List<String> paths =
        halves.stream().flatMap(half -> half.places().stream().map(half::path)).toList();
    return read(base, paths, 0, new HashMap<>());
  }

  /** Reads {@link #CHUNK} nodes at a time. */
  private static CompletableFuture<Map<String, Answered>> read(
      Requests base, List<String> paths, int from, Map<String, Answered> read) {
    if (from >= paths.size()) {
      return CompletableFuture.completedFuture(read);
    }
    List<String> chunk = paths.subList(from, Math.min(paths.size(), from + CHUNK));
    List<CompletableFuture<Answered>> answers =
        chunk.stream().map(path -> base.read(path, null).handle(Inspection::answered)).toList();
    return CompletableFuture.allOf(answers.toArray(CompletableFuture[]::new))
        .thenCompose(
            nothing -> {
              for (int i = 0; i < chunk.size(); i++) {
                read.put(chunk.get(i), answers.get(i).join());
              }
              return read(base, paths, from + CHUNK, read);
            });
  }

  private static Answered answered(@Nullable Node node, @Nullable Throwable error) {
    if (error != null && Failures.code(error) != Code.NOAUTH) {
      throw Failures.unchecked(error);
    }
    return new Answered(node, error);
  }

  /**
   * @param nowMillis what stands for a shortest hold alone is dead if that is over by then
   * @throws StoreException if somebody else wrote it
   * @throws CompletionException if one of its claims may not be read
   */
  private static FoundLock found(Half half, Map<String, Answered> read, long nowMillis) {
    Set<String> all = new HashSet<>(half.names());
    List<Found> found = new ArrayList<>();
    List<String> dead = new ArrayList<>();
    for (Place place : half.places()) {
      Answered answered = Objects.requireNonNull(read.get(half.path(place)));
      if (answered.denied() != null) {
        throw Failures.unchecked(answered.denied());
      }
      Node claim = answered.node();
      if (claim != null) {
        Stored stored = Stored.shown(place, claim.data());
        boolean alive = !place.kept() || all.contains(place.sign());
        if (alive || lingers(stored, claim, nowMillis)) {
          found.add(new Found(place, stored, claim, alive));
        } else {
          dead.add(half.path(place));
        }
      }
    }
    Kind kind = Stored.parseKind(half.path(), half.node().data());
    return new FoundLock(half.name(), half.path(), kind, half.node(), found, dead);
  }

  private static boolean lingers(Stored stored, Node node, long nowMillis) {
    return stored.granted() && node.stat().getMtime() + stored.holdMillis() > nowMillis;
  }

  private static List<Found> holders(FoundLock lock) {
    QueueRule rule = new QueueRule(lock.kind());
    List<Found> holders = new ArrayList<>();
    for (Found each : lock.found()) {
      if (rule.holdsNext(each.stored().mode()) || each.stored().granted()) {
        holders.add(each);
      }
    }
    return holders;
  }

  private static Standing.Held tokens(FoundLock lock, Found holder) {
    long zxid = holder.node().stat().getCzxid();
    return ZxidTokens.of(lock.name(), zxid, holder.stored().tokens(), 0);
  }

  private static LockView view(FoundLock lock) {
    Set<Found> holding = Collections.newSetFromMap(new IdentityHashMap<>());
    holding.addAll(holders(lock));
    List<ClaimView> holders = new ArrayList<>();
    List<ClaimView> waiters = new ArrayList<>();
    long last = 0;
    for (Found each : lock.found()) {
      if (holding.contains(each)) {
        Standing.Held tokens = tokens(lock, each);
        last = Math.max(last, tokens.lastToken());
        holders.add(view(each, tokens.token(), tokens.lastToken()));
      } else {
        waiters.add(view(each, 0, 0));
      }
    }
    if (holding.isEmpty()) {
      last = ZxidTokens.first(lock.name(), lock.node().stat().getPzxid()) + ZxidTokens.PER_HOLD - 1;
    }
    return new LockView(lock.name(), lock.kind(), last, holders, waiters);
  }

  /** A claim whose client is connected has a whole lease left. */
  private static ClaimView view(Found claim, long token, long lastToken) {
    Stored stored = claim.stored();
    Instant since = Instant.ofEpochMilli(claim.node().stat().getCtime());
    Instant until =
        claim.alive()
            ? Instant.now().plusMillis(stored.leaseMillis())
            : Instant.ofEpochMilli(claim.node().stat().getMtime() + stored.holdMillis());
    Instant shown = until.isAfter(since) ? until : since.plusMillis(1);
    return new ClaimView(
        claim.place().id(), stored.mode(), token, lastToken, since, shown, stored.holder());
  }

  CompletableFuture<Boolean> evict(String name, long token) {
    Requests base = claims.base().ask();
    return base.sync()
        .thenCombine(findByServiceTime(base, name, 0), (synced, found) -> found)
        .thenCompose(
            lock -> {
              // one that came as permits were taken away holds, though it does not look like it
              for (Found each : lock == null ? List.<Found>of() : lock.found()) {
                Standing.Held tokens = tokens(Objects.requireNonNull(lock), each);
                if (tokens.token() <= token && token <= tokens.lastToken()) {
                  return remove(base, lock.path(), each);
                }
              }
              return CompletableFuture.completedFuture(false);
            });
  }

  private static CompletableFuture<Boolean> remove(Requests base, String lock, Found holder) {
    CompletableFuture<Boolean> removed = base.delete(lock + "/" + holder.place().name(), -1);
    return holder.place().kept()
        ? base.delete(lock + "/" + holder.place().sign(), -1)
            .thenCombine(removed, (sign, place) -> place)
        : removed;
  }

  CompletableFuture<Boolean> setKind(String name, Kind kind, int tries) {
    if (tries > MOST_TRIES) {
      return CompletableFuture.failedFuture(changesTooFast(name));
    }
    Requests base = claims.base().ask();
    return base.sync()
        .thenCombine(findByServiceTime(base, name, 0), (synced, found) -> found)
        .thenCompose(lock -> change(base, name, lock, kind))
        .thenCompose(
            done ->
                done == null
                    ? setKind(name, kind, tries + 1)
                    : CompletableFuture.completedFuture(done));
  }

  /** Null where it has to be tried once more. */
  private CompletableFuture<@Nullable Boolean> change(
      Requests base, String name, @Nullable FoundLock lock, Kind kind) {
    if (lock == null) {
      return base.create(claims.nodes().lock(name), Stored.kind(kind), CreateMode.CONTAINER)
          .handle((created, error) -> outcome(error, Set.of(Code.NODEEXISTS)));
    }
    if (lock.kind().equals(kind)) {
      return CompletableFuture.completedFuture(true);
    }
    if (lock.kind().isSemaphore() && kind.isSemaphore()) {
      return resize(base, lock, kind);
    }
    if (!lock.found().isEmpty()) {
      return CompletableFuture.completedFuture(false);
    }
    List<CompletableFuture<Boolean>> removed =
        lock.dead().stream().map(path -> base.delete(path, -1)).toList();
    List<Op> ops =
        List.of(
            Op.delete(lock.path(), lock.node().stat().getVersion()),
            Op.create(
                lock.path(), Stored.kind(kind), claims.settings().acl(), CreateMode.CONTAINER));
    return CompletableFuture.allOf(removed.toArray(CompletableFuture[]::new))
        .thenCompose(nothing -> base.multi(ops))
        .thenApply(results -> retry(Requests.firstError(results), lock.path()));
  }

  /**
   * Holders are noted as such in the same transaction, since they are so no longer by the rule once
   * there are fewer permits.
   */
  private static CompletableFuture<@Nullable Boolean> resize(
      Requests base, FoundLock lock, Kind kind) {
    List<Op> ops = new ArrayList<>();
    ops.add(Op.setData(lock.path(), Stored.kind(kind), lock.node().stat().getVersion()));
    for (Found holder :
        kind.capacity() < lock.kind().capacity() ? holders(lock) : Collections.<Found>emptyList()) {
      if (!holder.place().kept()) {
        ops.add(
            Op.setData(
                lock.path() + "/" + holder.place().name(),
                holder.stored().asGranted().bytes(),
                holder.node().stat().getVersion()));
      }
    }
    return base.multi(ops).thenApply(results -> retry(Requests.firstError(results), lock.path()));
  }

  private static @Nullable Boolean retry(@Nullable Code code, String path) {
    if (code == null) {
      return true;
    }
    if (Set.of(Code.BADVERSION, Code.NONODE, Code.NOTEMPTY, Code.NODEEXISTS).contains(code)) {
      return null;
    }
    throw new CompletionException(KeeperException.create(code, path));
  }

  private static @Nullable Boolean outcome(@Nullable Throwable error, Set<Code> retried) {
    if (error == null) {
      return true;
    }
    Code code = Failures.code(error);
    if (code != null && retried.contains(code)) {
      return null;
    }
    Throwable cause = Failures.cause(error);
    throw new CompletionException(cause == null ? new StoreException("unknown failure") : cause);
  }
}
