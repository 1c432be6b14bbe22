package io.pawl.quorum;

import io.pawl.concurrent.Time;
import io.pawl.error.StoreConfigurationException;
import io.pawl.error.StoreException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.spi.Bell;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** The claims of this client, and what they share. */
final class QuorumLocks {

  /** How many rounds a claim may have, so that ids of its rounds and of the next claim differ. */
  private static final long ROUNDS = 1 << 20;

  private static final int MOST_WITHDRAWN = 10_000;
  private static final int MOST_BUSY = 10_000;
  private static final long BUSY_NANOS = 100_000_000;

  private final List<Node> nodes;
  private final QuorumOptions options;
  private final Time time;
  private final RandomGenerator random;
  private final TokenClock tokens;
  private final Questions questions;
  private final ConcurrentHashMap<ClaimId, QuorumClaim> claims = new ConcurrentHashMap<>();
  private final AtomicLong yielded = new AtomicLong();
  private final AtomicLong grants = new AtomicLong();
  private volatile long typicalNanos;

  /** Locks that others held lately, by the time. */
  private final ConcurrentHashMap<String, Long> busy = new ConcurrentHashMap<>();

  /** Claims that were withdrawn while an attempt of theirs may yet come. */
  private final ReentrantLock mutex = new ReentrantLock();

  private final Map<ClaimId, Boolean> withdrawn =
      new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<ClaimId, Boolean> eldest) {
          return size() > MOST_WITHDRAWN;
        }
      };

  QuorumLocks(List<Node> nodes, QuorumOptions options, Time time, RandomGenerator random) {
    this.nodes = nodes;
    this.options = options;
    this.time = time;
    this.random = random;
    this.tokens = new TokenClock(time, random);
    this.questions = new Questions(time);
  }

  long now() {
    return time.nanos();
  }

  void after(long nanos, Runnable task) {
    time.after(nanos, task);
  }

  RandomGenerator random() {
    return random;
  }

  TokenClock tokens() {
    return tokens;
  }

  Questions questions() {
    return questions;
  }

  /** How long a majority is waited for. */
  long patience(Claim claim) {
    return Math.min(options.nodeTimeout().toNanos(), claim.lease().toNanos() / 2);
  }

  /** How long the seat of a claim is waited for. */
  long promptNanos(Claim claim) {
    return Math.min(options.promptNanos(), patience(claim) / 2);
  }

  /** After how long a majority does not wait for a node's vote any more. */
  long lateNanos(Claim claim) {
    return Math.max(2 * promptNanos(claim), 4 * typicalNanos);
  }

  /** A node's id for a round of a claim. */
  static ClaimId nodeId(ClaimId id, int round) {
    return new ClaimId(id.client(), id.number() * ROUNDS + round % ROUNDS);
  }

  /** The claim of the engine that has a round under {@code nodeId}. */
  static ClaimId engineId(ClaimId nodeId) {
    return new ClaimId(nodeId.client(), nodeId.number() / ROUNDS);
  }

  /** Somebody else holds it at the moment. */
  void isBusyNow(String lock) {
    if (busy.size() >= MOST_BUSY) {
      busy.clear();
    }
    busy.put(lock, now());
  }

  /** Whether others held it lately, so that most likely there is a line. */
  boolean isBusy(String lock) {
    Long since = busy.get(lock);
    return since != null && now() - since < BUSY_NANOS;
  }

  void yielded() {
    yielded.incrementAndGet();
  }

  /** One that came later was not waited for: this process stood still before it heard it. */
  void answeredAfter(long nanos) {
    long before = typicalNanos;
    long waited = Math.min(nanos, options.nodeTimeout().toNanos());
    typicalNanos = before + (waited - before) / 8;
  }

  /** How long a question takes, lately. */
  long typicalNanos() {
    return typicalNanos;
  }

  Map<String, Long> figures() {
    return Map.of("nodes.yielded", yielded.get(), "locks.attempts", grants.get());
  }

  CompletionStage<Standing> attempt(Claim claim, Bell bell) {
    StoreException refusal = refusal(claim);
    if (refusal != null) {
      return CompletableFuture.failedFuture(refusal);
    }
    if (isWithdrawn(claim.id())) {
      return CompletableFuture.completedFuture(Standing.GONE);
    }
    QuorumClaim known =
        claims.computeIfAbsent(claim.id(), id -> new QuorumClaim(claim, bell, this, nodes));
    if (isWithdrawn(claim.id())) { // and its withdrawal may not have found it
      known.withdraw(claim.asUnsettled());
      return CompletableFuture.completedFuture(Standing.GONE);
    }
    grants.incrementAndGet();
    return known.attempt(claim, bell);
  }

  private @Nullable StoreException refusal(Claim claim) {
    if (claim.mode() instanceof Mode.Permits) {
      return new StoreConfigurationException(
          "lock '"
              + claim.lock()
              + "': a quorum has no semaphores, since n permits at each node are up to 2n - 1 in"
              + " all; keep the semaphore in one store");
    }
    Duration longest = options.longestLease();
    if (claim.lease().compareTo(longest) > 0 || claim.minHold().compareTo(longest) > 0) {
      return new StoreConfigurationException(
          "lock '"
              + claim.lock()
              + "': a lease or shortest hold is longer than longestLease, "
              + longest
              + ", for which a node stays out that was started anew; ask for less, or give all"
              + " clients a longer one");
    }
    return null;
  }

  /**
   * Holds are renewed in calls of their own, which no other claim's round holds up; so are those
   * that a majority did not confirm the last time.
   */
  int renewGroup(Claim claim) {
    QuorumClaim known = claims.get(claim.id());
    return known == null || !known.isGranted() ? 1 : known.isInSilence() ? 2 : 0;
  }

  /**
   * Nodes are asked once for all claims. One that they are slow to answer keeps the others waiting,
   * for no longer than the shortest lease of the call allows.
   */
  CompletionStage<Map<ClaimId, Standing>> renew(Collection<Claim> asked) {
    List<List<NodeClaim>> renewals = new ArrayList<>();
    nodes.forEach(node -> renewals.add(new ArrayList<>()));
    Map<ClaimId, QuorumClaim> owners = new HashMap<>();
    Map<ClaimId, CompletableFuture<Standing>> answers = new HashMap<>();
    long patience = asked.stream().mapToLong(this::patience).min().orElse(0);
    for (Claim claim : asked) {
      QuorumClaim known = claims.get(claim.id());
      if (known == null) {
        answers.put(claim.id(), CompletableFuture.completedFuture(Standing.GONE));
      } else {
        owners.put(claim.id(), known);
        answers.put(claim.id(), known.renew(renewals, patience).answer());
      }
    }
    long sentAt = now(); // not before any question, nor after any request
    for (int i = 0; i < nodes.size(); i++) {
      List<NodeClaim> all = renewals.get(i);
      int batch = nodes.get(i).renewBatch();
      for (int from = 0; from < all.size(); from += batch) {
        List<NodeClaim> some = all.subList(from, Math.min(all.size(), from + batch));
        renew(nodes.get(i), some, owners, sentAt);
      }
    }
    return CompletableFuture.allOf(answers.values().toArray(CompletableFuture[]::new))
        .handle((nothing, error) -> told(answers));
  }

  private void renew(
      Node node, List<NodeClaim> some, Map<ClaimId, QuorumClaim> owners, long sentAt) {
    node.renew(some.stream().map(each -> each.claim).toList())
        .whenComplete(
            (standings, error) -> {
              for (NodeClaim each : some) {
                QuorumClaim owner = owners.get(engineId(each.claim.id()));
                if (owner != null) {
                  Standing standing = standings == null ? null : standings.get(each.claim.id());
                  owner.answered(each, standing, error, sentAt, false);
                }
              }
            });
  }

  private static Map<ClaimId, Standing> told(Map<ClaimId, CompletableFuture<Standing>> answers) {
    Map<ClaimId, Standing> told = new HashMap<>();
    Throwable failure = null;
    for (Map.Entry<ClaimId, CompletableFuture<Standing>> each : answers.entrySet()) {
      try {
        told.put(each.getKey(), each.getValue().join());
      } catch (CompletionException e) {
        failure = e.getCause();
      }
    }
    if (told.isEmpty() && failure != null) {
      throw failure instanceof StoreException known
          ? known
          : new StoreUnavailableException("a renewal failed: " + failure, failure);
    }
    return told;
  }

  CompletionStage<Void> withdraw(Claim claim) {
    if (claim.unsettled()) {
      remember(claim.id());
    }
    QuorumClaim known = claims.get(claim.id());
    return known == null ? CompletableFuture.completedFuture(null) : known.withdraw(claim);
  }

  private void remember(ClaimId id) {
    mutex.lock();
    try {
      withdrawn.put(id, true);
    } finally {
      mutex.unlock();
    }
  }

  private boolean isWithdrawn(ClaimId id) {
    mutex.lock();
    try {
      return withdrawn.containsKey(id);
    } finally {
      mutex.unlock();
    }
  }

  void forget(QuorumClaim claim) {
    claims.remove(claim.claim.id(), claim);
  }

  /**
   * As {@link #forget}, of a claim that its client may ask for again all the same: it is gone. Its
   * ids at the nodes are being withdrawn, and another claim of its id would have the same.
   */
  void endForGood(QuorumClaim claim) {
    remember(claim.claim.id());
    forget(claim);
  }

  /** Time stands still from now on: what is asked ends with what is known. */
  void close() {
    questions.close();
  }

  /** Ends claims that their client has forgotten. */
  void sweep() {
    long now = now();
    claims.values().forEach(claim -> claim.endIfForgotten(now));
  }
}
