package io.pawl.zookeeper;

import io.pawl.concurrent.Futures;
import io.pawl.error.StoreException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.spi.Bell;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Kind;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The claims of this client that wait, hold, or are not seen gone yet. It ends those that the
 * engine has not spoken of for their lease, which their session would keep alive. Thread-safe.
 */
final class QueuedClaims {

  private static final Logger log = LoggerFactory.getLogger(QueuedClaims.class);

  /** How many claims one renewal carries: about half of the largest request that servers take. */
  static final int RENEW_BATCH = 200;

  private static final long SWEEP_NANOS = TimeUnit.MILLISECONDS.toNanos(50);
  private static final long SHORTEST_MEMORY_NANOS = TimeUnit.SECONDS.toNanos(60);
  private static final int MOST_WITHDRAWN = 100_000;
  private static final int MOST_KNOWN = 10_000;
  private static final int MOST_ROUNDS = 4;

  /** A lock's node is removed by the service a minute after its last claim, at the soonest. */
  private static final long KNOWN_NANOS = TimeUnit.SECONDS.toNanos(20);

  private final Settings settings;
  private final Clock clock;
  private final Failures failures;
  private final Nodes nodes;
  private final Sessions sessions;
  private final Map<ClaimId, QueuedClaim> claims = new ConcurrentHashMap<>();

  private final ReentrantLock mutex = new ReentrantLock();

  /** Until when a late attempt of a withdrawn claim is refused. */
  private final LinkedHashMap<ClaimId, Long> withdrawn = new LinkedHashMap<>();

  /** When the node of a lock was last seen. */
  private final LinkedHashMap<String, Long> known =
      new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Long> eldest) {
          return size() > MOST_KNOWN;
        }
      };

  QueuedClaims(Settings settings, Clock clock, Failures failures) {
    this.settings = settings;
    this.clock = clock;
    this.failures = failures;
    this.nodes = new Nodes(settings.base());
    this.sessions = new Sessions(settings, clock, this::sessionEnded, this::standsUnder);
    clock.every(SWEEP_NANOS, this::sweep);
  }

  Settings settings() {
    return settings;
  }

  Clock clock() {
    return clock;
  }

  Failures failures() {
    return failures;
  }

  Nodes nodes() {
    return nodes;
  }

  Sessions sessions() {
    return sessions;
  }

  Session base() {
    return sessions.base();
  }

  // ------------------------------------------------------------------------------------- verbs

  CompletableFuture<Standing> attempt(Claim claim, Bell bell) {
    QueuedClaim known = claims.get(claim.id());
    if (known == null) {
      if (isWithdrawn(claim.id())) {
        return CompletableFuture.completedFuture(Standing.GONE);
      }
      Session session = sessions.of(claim.leaseMillis());
      QueuedClaim joining = new QueuedClaim(this, claim, bell, session);
      claims.put(claim.id(), joining);
      return joining.join();
    }
    if (known.hasYetToJoin()) {
      // what the first attempt is answered says nothing of the time since then
      return known
          .attemptAgain(bell)
          .thenCompose(
              standing ->
                  standing instanceof Standing.Held || standing instanceof Standing.Waiting
                      ? confirmed(known)
                      : CompletableFuture.completedFuture(standing));
    }
    known.hear();
    return claim.mode() instanceof Mode.Shared && known.isHeldAlone()
        ? admitted(known.session(), known::downgrade)
        : confirmed(known);
  }

  private CompletableFuture<Standing> confirmed(QueuedClaim known) {
    return admitted(known.session(), () -> confirmed(List.of(known), 0))
        .thenCompose(nothing -> known.standing());
  }

  CompletableFuture<Map<ClaimId, Standing>> renew(Collection<Claim> asked) {
    Map<ClaimId, Standing> standings = new ConcurrentHashMap<>();
    Map<Session, List<QueuedClaim>> bySession = new HashMap<>();
    for (Claim claim : asked) {
      QueuedClaim known = claims.get(claim.id());
      if (known == null) {
        standings.put(claim.id(), Standing.GONE);
      } else {
        known.hear();
        bySession.computeIfAbsent(known.session(), session -> new ArrayList<>()).add(known);
      }
    }
    List<CompletableFuture<?>> answers = new ArrayList<>();
    CompletableFuture<StoreException> failed = new CompletableFuture<>();
    bySession.forEach(
        (session, batch) -> {
          CompletableFuture<Void> confirmed = admitted(session, () -> confirmed(batch, 0));
          for (QueuedClaim each : batch) {
            answers.add(
                confirmed
                    .thenCompose(nothing -> each.standing())
                    .handle(
                        (standing, error) -> {
                          if (error == null) {
                            standings.put(each.id(), standing);
                          } else {
                            failed.complete(failures.of(error));
                          }
                          return null;
                        }));
          }
        });
    return CompletableFuture.allOf(answers.toArray(CompletableFuture[]::new))
        .thenApply(
            nothing -> {
              if (standings.isEmpty() && failed.isDone()) {
                throw failed.join();
              }
              return Map.copyOf(standings);
            });
  }

  CompletableFuture<Void> withdraw(Claim claim) {
    if (claim.unsettled()) {
      remember(claim);
    }
    QueuedClaim known = claims.get(claim.id());
    return known == null
        ? CompletableFuture.completedFuture(null)
        : known.end(claim.minHold()).thenApply(nothing -> null);
  }

  private static <T> CompletableFuture<T> admitted(
      Session session, Supplier<CompletableFuture<T>> send) {
    CompletableFuture<T> answer = new CompletableFuture<>();
    session.admit(() -> Futures.follow(answer, send.get()), answer::completeExceptionally);
    return answer;
  }

  /**
   * Completes when a majority has agreed that the nodes of {@code batch} are there, all but those
   * which have {@linkplain QueuedClaim#vanished vanished}. One transaction, which changes nothing;
   * those that wait look at what they watch in the same trip.
   */
  private CompletableFuture<Void> confirmed(List<QueuedClaim> batch, int rounds) {
    List<Op> ops = new ArrayList<>();
    List<QueuedClaim> checked = new ArrayList<>();
    List<CompletableFuture<Void>> looks = new ArrayList<>();
    for (QueuedClaim each : batch) {
      for (Op check : each.checks()) {
        ops.add(check);
        checked.add(each);
      }
    }
    if (ops.isEmpty()) {
      return CompletableFuture.completedFuture(null);
    }
    Session session = batch.get(0).session();
    CompletableFuture<List<OpResult>> agreed = session.multi(ops);
    if (rounds == 0) {
      for (QueuedClaim each : batch) {
        looks.add(each.lookAgain().exceptionally(error -> null));
      }
    }
    return agreed
        .thenCompose(
            results -> {
              if (QueuedClaim.firstError(results) == null) {
                return CompletableFuture.<Void>completedFuture(null);
              }
              if (rounds >= MOST_ROUNDS) {
                throw new StoreUnavailableException(
                    settings.shown() + ": claims end faster than they can be renewed");
              }
              return withoutVanished(session, checked, ops)
                  .thenCompose(nothing -> confirmed(batch, rounds + 1));
            })
        .thenCompose(nothing -> CompletableFuture.allOf(looks.toArray(CompletableFuture[]::new)));
  }

  /** The service names only the first node that is missing. */
  private CompletableFuture<Void> withoutVanished(
      Session session, List<QueuedClaim> checked, List<Op> ops) {
    List<CompletableFuture<?>> answers = new ArrayList<>();
    for (int i = 0; i < ops.size(); i++) {
      QueuedClaim each = checked.get(i);
      answers.add(
          session
              .exists(ops.get(i).getPath())
              .thenAccept(
                  stat -> {
                    if (stat == null) {
                      each.vanished();
                    }
                  }));
    }
    return CompletableFuture.allOf(answers.toArray(CompletableFuture[]::new));
  }

  // ------------------------------------------------------------------------------------- memory

  private void remember(Claim claim) {
    long now = System.nanoTime();
    long until = now + Math.max(SHORTEST_MEMORY_NANOS, claim.lease().toNanos());
    mutex.lock();
    try {
      withdrawn.put(claim.id(), until);
      Iterator<Long> oldest = withdrawn.values().iterator();
      while (oldest.hasNext() && (oldest.next() - now < 0 || withdrawn.size() > MOST_WITHDRAWN)) {
        oldest.remove();
      }
    } finally {
      mutex.unlock();
    }
  }

  private boolean isWithdrawn(ClaimId id) {
    mutex.lock();
    try {
      Long until = withdrawn.get(id);
      return until != null && until - System.nanoTime() > 0;
    } finally {
      mutex.unlock();
    }
  }

  void forget(QueuedClaim claim) {
    claims.remove(claim.id(), claim);
  }

  private boolean standsUnder(Session session) {
    return claims.values().stream().anyMatch(claim -> claim.session() == session && claim.stands());
  }

  private void sessionEnded(Session session) {
    for (QueuedClaim claim : claims.values()) {
      if (claim.session() == session) {
        claim.sessionEnded();
      }
    }
  }

  /** Ends those that nobody speaks of, and tries once more to end those that are to go. */
  private void sweep() {
    long now = System.nanoTime();
    for (QueuedClaim claim : claims.values()) {
      if (claim.isStuck(now) || (claim.isSilent(now) && claim.stands())) {
        claim
            .end(claim.claim().minHold())
            .whenComplete(
                (nothing, error) -> {
                  if (error != null) {
                    log.debug("claim {} is not seen gone yet", claim.id(), error);
                  }
                });
      }
    }
  }

  // ------------------------------------------------------------------------------------- locks

  /** Makes the node of a lock, unless it was there just now. */
  CompletableFuture<?> makeLock(Session session, String lock, Mode mode) {
    mutex.lock();
    try {
      Long seen = known.get(lock);
      if (seen != null && System.nanoTime() - seen < KNOWN_NANOS) {
        return CompletableFuture.completedFuture(null);
      }
    } finally {
      mutex.unlock();
    }
    return session.create(
        nodes.lock(lock), Stored.kind(new Kind(mode.capacity())), CreateMode.CONTAINER);
  }

  void lockIsThere(String lock) {
    mutex.lock();
    try {
      known.put(lock, System.nanoTime());
    } finally {
      mutex.unlock();
    }
  }

  void lockIsMissing(String lock) {
    mutex.lock();
    try {
      known.remove(lock);
    } finally {
      mutex.unlock();
    }
  }

  /** Makes the nodes above those of locks, whichever are missing. */
  CompletableFuture<Void> makeBase(Session session) {
    CompletableFuture<Void> made = CompletableFuture.completedFuture(null);
    String path = nodes.locks();
    for (int slash = path.indexOf('/', 1); slash > 0; slash = path.indexOf('/', slash + 1)) {
      String above = path.substring(0, slash);
      made = made.thenCompose(nothing -> makeNode(session, above));
    }
    return made.thenCompose(nothing -> makeNode(session, path));
  }

  /** Asks first: who may read a node need not have the right to create its like. */
  private static CompletableFuture<Void> makeNode(Session session, String path) {
    return session
        .exists(path)
        .thenCompose(
            stat ->
                stat != null
                    ? CompletableFuture.<Void>completedFuture(null)
                    : session
                        .create(path, new byte[0], CreateMode.PERSISTENT)
                        .handle(
                            (created, error) -> {
                              if (error != null && Failures.code(error) != Code.NODEEXISTS) {
                                throw new CompletionException(Failures.cause(error));
                              }
                              return null;
                            }));
  }

  /** Closes all sessions; what still stands runs out with its own. */
  void close() {
    claims.values().forEach(QueuedClaim::abandon);
    sessions.close();
  }
}
