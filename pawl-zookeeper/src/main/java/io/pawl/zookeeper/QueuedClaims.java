package io.pawl.zookeeper;

import io.pawl.concurrent.Futures;
import io.pawl.concurrent.Timetable;
import io.pawl.error.StoreException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.spi.Bell;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import io.pawl.zookeeper.Nodes.Queue;
import java.time.Duration;
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
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.jspecify.annotations.Nullable;
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

  /** When an end that failed is tried once more, and a claim whose attempt takes long looked at. */
  private static final long AGAIN_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  private static final long SHORTEST_MEMORY_NANOS = TimeUnit.SECONDS.toNanos(60);
  private static final int MOST_WITHDRAWN = 100_000;
  private static final int MOST_ROUNDS = 4;

  private final Settings settings;
  private final Clock clock;
  private final Failures failures;
  private final Nodes nodes;
  private final Sessions sessions;
  private final LockNodes locks;
  private final Map<ClaimId, QueuedClaim> claims = new ConcurrentHashMap<>();
  private final Followers followers;
  private final Leaving.Endings endings = new Leaving.Endings();

  private final ReentrantLock mutex = new ReentrantLock();

  /** When each claim is looked at next, in {@link System#nanoTime}. Guarded by the mutex. */
  private final Timetable<QueuedClaim> looks = new Timetable<>();

  /** Until when a late attempt of a withdrawn claim is refused. */
  private final LinkedHashMap<ClaimId, Long> withdrawn = new LinkedHashMap<>();

  private volatile boolean closed;

  QueuedClaims(Settings settings, Clock clock, Failures failures) {
    this.settings = settings;
    this.clock = clock;
    this.failures = failures;
    this.nodes = new Nodes(settings.base());
    this.locks = new LockNodes(nodes);
    this.followers = new Followers(clock);
    this.sessions = new Sessions(settings, clock, this::sessionEnded);
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

  LockNodes locks() {
    return locks;
  }

  Followers followers() {
    return followers;
  }

  Leaving.Endings endings() {
    return endings;
  }

  Session base() {
    return sessions.base();
  }

  /** Removes a node that is nobody's any more, under the session that has no lease. */
  CompletableFuture<Boolean> remove(String path) {
    try {
      return base().ask().delete(path, -1);
    } catch (StoreException closed) {
      return CompletableFuture.failedFuture(closed);
    }
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
      known = claims.putIfAbsent(claim.id(), joining);
      if (known == null) {
        if (isWithdrawn(claim.id())) { // while a session was opened: that found nothing to leave
          forget(joining);
          return CompletableFuture.completedFuture(Standing.GONE);
        }
        lookAt(joining, joining.silentFrom());
        return joining.joining().begin();
      }
      joining.leaveSession();
    }
    if (known.lingers()) {
      return CompletableFuture.completedFuture(Standing.GONE);
    }
    return attemptAgain(known, claim, bell);
  }

  private CompletableFuture<Standing> attemptAgain(QueuedClaim known, Claim claim, Bell bell) {
    known.hear();
    CompletableFuture<Standing> joining = known.joining().beginAgain(bell);
    if (joining != null) {
      return joining.thenCompose(standing -> confirmedAgain(known, standing));
    }
    return claim.mode() instanceof Mode.Shared && known.isHeldAlone()
        ? admitted(known.session(), known::downgrade)
        : confirmed(known);
  }

  /** What the first attempt is answered says nothing of the time since then. */
  private CompletableFuture<Standing> confirmedAgain(QueuedClaim known, Standing standing) {
    if (!(standing instanceof Standing.Held || standing instanceof Standing.Waiting)) {
      return CompletableFuture.completedFuture(standing);
    }
    known.hear(); // its client waits for the answer still
    return confirmed(known);
  }

  private CompletableFuture<Standing> confirmed(QueuedClaim known) {
    return admitted(known.session(), () -> confirmed(List.of(known), 0))
        .thenCompose(refused -> standing(known, refused));
  }

  private static CompletableFuture<Standing> standing(
      QueuedClaim claim, Map<ClaimId, KeeperException> refused) {
    KeeperException why = refused.get(claim.id());
    return why == null ? claim.standing() : CompletableFuture.failedFuture(why);
  }

  CompletableFuture<Map<ClaimId, Standing>> renew(Collection<Claim> asked) {
    Map<ClaimId, Standing> standings = new ConcurrentHashMap<>();
    Map<Session, List<QueuedClaim>> bySession = new HashMap<>();
    for (Claim claim : asked) {
      QueuedClaim known = claims.get(claim.id());
      if (known == null || known.lingers()) {
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
          CompletableFuture<Map<ClaimId, KeeperException>> confirmed =
              admitted(session, () -> confirmed(batch, 0));
          for (QueuedClaim each : batch) {
            answers.add(
                confirmed
                    .thenCompose(refused -> standing(each, refused))
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

  boolean isHeld(ClaimId id) {
    QueuedClaim known = claims.get(id);
    return known != null && known.isHeld();
  }

  CompletableFuture<Void> withdraw(Claim claim) {
    if (claim.unsettled()) {
      remember(claim);
    }
    QueuedClaim known = claims.get(claim.id());
    return known == null
        ? CompletableFuture.completedFuture(null)
        : known.leaving().end(claim.minHold()).thenApply(nothing -> null);
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
   *
   * @return why the service refuses to say it of some
   */
  private CompletableFuture<Map<ClaimId, KeeperException>> confirmed(
      List<QueuedClaim> batch, int rounds) {
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
      return CompletableFuture.completedFuture(Map.of());
    }
    Session session = batch.get(0).session();
    CompletableFuture<List<OpResult>> agreed = session.ask().multi(ops);
    if (rounds == 0) {
      Map<String, CompletableFuture<@Nullable Queue>> listings = new HashMap<>();
      for (QueuedClaim each : batch) {
        looks.add(
            each.lookout()
                .lookAgain(() -> listings.computeIfAbsent(each.lockPath(), session.ask()::queue))
                .exceptionally(error -> null));
      }
    }
    return agreed
        .thenCompose(
            results -> {
              Code error = Requests.firstError(results);
              if (error == null) {
                return CompletableFuture.completedFuture(Map.<ClaimId, KeeperException>of());
              }
              if (error == Code.NOAUTH) {
                return apart(batch, KeeperException.create(error, ops.get(0).getPath()));
              }
              if (error != Code.NONODE) {
                throw new CompletionException(KeeperException.create(error));
              }
              if (rounds >= MOST_ROUNDS) {
                throw new StoreUnavailableException(
                    settings.shown() + ": claims end faster than they can be renewed");
              }
              return withoutVanished(session, checked, ops)
                  .thenCompose(nothing -> confirmed(batch, rounds + 1));
            })
        .thenCompose(
            refused ->
                CompletableFuture.allOf(looks.toArray(CompletableFuture[]::new))
                    .thenApply(nothing -> refused));
  }

  /** One of {@code batch} may not be read, so halves of it are confirmed, down to that one. */
  private CompletableFuture<Map<ClaimId, KeeperException>> apart(
      List<QueuedClaim> batch, KeeperException why) {
    int half = batch.size() / 2;
    if (half == 0) {
      return CompletableFuture.completedFuture(Map.of(batch.get(0).id(), why));
    }
    return confirmed(batch.subList(0, half), 1)
        .thenCombine(
            confirmed(batch.subList(half, batch.size()), 1),
            (first, second) -> {
              Map<ClaimId, KeeperException> refused = new HashMap<>(first);
              refused.putAll(second);
              return refused;
            });
  }

  /** The service names only the first node that is missing. */
  private CompletableFuture<Void> withoutVanished(
      Session session, List<QueuedClaim> checked, List<Op> ops) {
    List<CompletableFuture<?>> answers = new ArrayList<>();
    for (int i = 0; i < ops.size(); i++) {
      QueuedClaim each = checked.get(i);
      String path = ops.get(i).getPath();
      answers.add(
          session
              .ask()
              .exists(path)
              .thenAccept(
                  stat -> {
                    if (stat == null) {
                      each.vanished(path);
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
    followers.remove(claim.id());
    mutex.lock();
    try {
      looks.remove(claim);
    } finally {
      mutex.unlock();
    }
    claim.leaveSession();
  }

  /** How many claims are known. */
  int size() {
    return claims.size();
  }

  private void sessionEnded(Session session) {
    for (QueuedClaim claim : claims.values()) {
      if (claim.session() == session) {
        claim.leaving().sessionEnded();
      }
    }
  }

  /** Ends those that nobody speaks of, and tries once more to end those that are to go. */
  private void sweep() {
    long now = System.nanoTime();
    for (QueuedClaim claim : due(now)) {
      if (claim.leaving().isStuck()) {
        claim
            .session()
            .admit(() -> end(claim, claim.claim().minHold()), refused -> endAgainLater(claim));
      } else if (claim.stands()) {
        if (claim.hasFallenSilent(now)) {
          end(claim, claim.keptInSilence());
        } else {
          long next = claim.silentFrom() + 1;
          lookAt(claim, next - now > 0 ? next : now + AGAIN_NANOS);
        }
      }
    }
  }

  private static void end(QueuedClaim claim, Duration minHold) {
    claim
        .leaving()
        .end(minHold)
        .whenComplete(
            (nothing, error) -> {
              if (error != null) {
                log.debug("claim {} is not seen gone yet", claim.id(), error);
              }
            });
  }

  /** The end of a claim failed: unless its session has ended meanwhile, it is repeated soon. */
  void endAgainLater(QueuedClaim claim) {
    if (claim.session().isEnded()) {
      claim.leaving().sessionEnded();
    } else {
      lookAt(claim, System.nanoTime() + AGAIN_NANOS);
    }
  }

  /** Unless it is forgotten, {@code claim} is looked at then, and not before. */
  private void lookAt(QueuedClaim claim, long atNanos) {
    mutex.lock();
    try {
      looks.remove(claim);
      if (claims.get(claim.id()) == claim) {
        looks.add(claim, atNanos);
      }
    } finally {
      mutex.unlock();
    }
  }

  private List<QueuedClaim> due(long now) {
    List<QueuedClaim> due = new ArrayList<>();
    mutex.lock();
    try {
      while (!looks.isEmpty() && looks.firstDue() - now <= 0) {
        due.add(looks.removeFirst());
      }
    } finally {
      mutex.unlock();
    }
    return due;
  }

  boolean isClosed() {
    return closed;
  }

  /** Closes all sessions, within 5 s; what still stands runs out with its own. */
  void close() {
    closed = true;
    claims.values().forEach(claim -> claim.leaving().abandon());
    sessions.close();
  }
}
