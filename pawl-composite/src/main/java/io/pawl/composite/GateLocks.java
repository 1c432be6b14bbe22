package io.pawl.composite;

import io.pawl.concurrent.Uninterruptibly;
import io.pawl.spi.Bell;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Inspectable;
import io.pawl.spi.Kind;
import io.pawl.spi.LockStore;
import io.pawl.spi.Standing;
import io.pawl.spi.rule.GrantRule;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Locks through a gate: contenders stand in the gate's line, and whoever the gate lets through asks
 * the truth, whose grant and tokens alone count.
 *
 * <ul>
 *   <li><b>attempt</b>: the gate first. Waiting there, or busy there: that is the answer. Let
 *       through, at once or by bell: an attempt at the truth. Gate away: an attempt at the truth.
 *   <li><b>renew</b>: both, for claims that are at both; the truth decides where it was asked, and
 *       its answer waits for nothing else. A claim is sent to it once, unless the engine repeats
 *       its attempt.
 *   <li><b>withdraw</b>: the truth first, so that the next whom the gate lets through finds it
 *       free. A claim of the same client that does not queue and comes later waits for both.
 * </ul>
 *
 * <p>Clients that see the gate and clients that do not meet in the truth's own line. Nobody in it
 * waits for the gate, so nobody waits forever. Verbs wait for the gate on the calling thread, for
 * its patience at most.
 */
final class GateLocks {

  private final Gate gate;
  private final LockStore truth;
  private final Threads threads;
  private final LongSupplier nanos;
  private final ConcurrentHashMap<ClaimId, ClaimProgress> progresses = new ConcurrentHashMap<>();
  private final OwedWithdrawals owed;

  /** By lock: completes when all that is being given back of it has left truth and gate. */
  private final ConcurrentHashMap<String, CompletableFuture<Void>> leaving =
      new ConcurrentHashMap<>();

  /** What this thread has asked together so far. */
  private final ThreadLocal<@Nullable Together> together = new ThreadLocal<>();

  GateLocks(Gate gate, LockStore truth, Threads threads, LongSupplier nanos) {
    this.gate = gate;
    this.truth = truth;
    this.threads = threads;
    this.nanos = nanos;
    this.owed = new OwedWithdrawals(gate, threads, nanos);
  }

  CompletionStage<Standing> attempt(Claim claim, Bell bell) {
    long now = nanos.getAsLong();
    ClaimProgress progress =
        progresses.computeIfAbsent(claim.id(), id -> new ClaimProgress(claim, bell, now));
    progress.heard(bell, now);
    Together all = together.get();
    if (progress.isSent()) {
      return all == null
          ? threads.then(send(progress, claim), standing -> again(progress, claim, standing))
          : all.atTruth(() -> send(progress, claim), standing -> again(progress, claim, standing));
    }
    if (!claim.queues()) {
      awaitLeaving(claim.lock());
    }
    if (all != null) {
      return all.attempt(progress, claim);
    }
    Standing atGate = askGate(progress);
    return isAnsweredAtGate(progress, atGate)
        ? CompletableFuture.completedFuture(atGate)
        : threads.then(
            send(progress, claim),
            standing -> conclude(progress, standing, atGate instanceof Standing.OtherKind));
  }

  /** Else the gate would turn a claim away for what its own client has given back before. */
  private void awaitLeaving(String lock) {
    CompletableFuture<Void> gone = leaving.get(lock);
    if (gone == null) {
      return;
    }
    Together all = together.get();
    if (all != null) {
      together.remove();
      try {
        all.send();
      } finally {
        together.set(all);
      }
    }
    Uninterruptibly.await(gone, truth.answerTime().toNanos());
  }

  /** Whether what the gate said is the answer. */
  boolean isAnsweredAtGate(ClaimProgress progress, @Nullable Standing atGate) {
    if (atGate instanceof Standing.Gone) {
      forget(progress);
    }
    return atGate instanceof Standing.Waiting || atGate instanceof Standing.Gone;
  }

  /**
   * The truth first: of a downgrade the readers at the gate must not learn before it. If they do
   * not learn of it then, the claim is to keep nobody out there for as long as it is renewed.
   */
  private Standing again(ClaimProgress progress, Claim claim, Standing answer) {
    Standing standing = conclude(progress, answer, false);
    if (standing instanceof Standing.Held && progress.mayBeAtGate() && progress.toGate()) {
      Standing heard = gate.ask(store -> store.attempt(forGate(claim), rung -> {}));
      progress.gateAnswered(heard);
      if (!(heard instanceof Standing.Held)) {
        leaveGate(progress, claim);
        progress.leftGate();
      }
    }
    return standing;
  }

  /** How it stands at the gate; null where the gate is away. */
  @Nullable Standing askGate(ClaimProgress progress) {
    return askGate(List.of(progress)).get(0);
  }

  /** As {@link #askGate(ClaimProgress)}, of all of them in one trip. */
  List<@Nullable Standing> askGate(List<ClaimProgress> asking) {
    if (gate.isAway()) {
      return new ArrayList<>(Collections.nCopies(asking.size(), null));
    }
    List<@Nullable Standing> standings =
        new ArrayList<>(Collections.nCopies(asking.size(), Standing.GONE));
    List<Integer> sent = new ArrayList<>();
    List<Function<LockStore, CompletionStage<Standing>>> verbs = new ArrayList<>();
    for (int i = 0; i < asking.size(); i++) {
      ClaimProgress progress = asking.get(i);
      if (progress.toGate()) {
        sent.add(i);
        verbs.add(
            store -> store.attempt(forGate(progress.claim), rung -> gateRang(progress, rung)));
      }
    }
    List<@Nullable Standing> answers = verbs.isEmpty() ? List.of() : gate.askTogether(verbs);
    for (int i = 0; i < sent.size(); i++) {
      int each = sent.get(i);
      standings.set(each, answers.get(i));
      asking.get(each).gateAnswered(answers.get(i));
    }
    return standings;
  }

  /**
   * No more tokens than followers could use; the gate's are not the truth's. Without a shortest
   * hold, which the truth keeps: a gate thinks no lock busy for longer than a lease.
   */
  static Claim forGate(Claim claim) {
    return new Claim(
        claim.lock(),
        claim.id(),
        claim.mode(),
        claim.lease(),
        Duration.ZERO,
        claim.queues(),
        Math.min(claim.tokens(), 1 + GrantRule.MAX_FOLLOWERS),
        0,
        claim.unsettled(),
        claim.holder());
  }

  private void gateRang(ClaimProgress progress, Standing standing) {
    if (standing instanceof Standing.Held held) {
      progress.followedBy(held.followers());
      threads.soon(() -> letThrough(progress));
    }
  }

  private void letThrough(ClaimProgress progress) {
    if (progress.startsForTruth(nanos.getAsLong())) {
      askTruth(progress)
          .whenComplete(
              (standing, error) -> {
                if (standing instanceof Standing.Held held) {
                  progress.ring(progress.leading(held));
                }
              });
    }
  }

  /**
   * For a claim that stood in the gate's line: it keeps its place though the semaphore was given
   * other permits meanwhile.
   */
  CompletionStage<Standing> askTruth(ClaimProgress progress) {
    CompletionStage<Standing> answer =
        threads
            .then(
                send(progress, progress.claim),
                standing -> {
                  Claim fitted = progress.fitted(standing);
                  return fitted == null
                      ? CompletableFuture.completedFuture(standing)
                      : send(progress, fitted);
                })
            .thenCompose(stage -> stage);
    return threads.then(answer, standing -> conclude(progress, standing, false));
  }

  CompletionStage<Standing> send(ClaimProgress progress, Claim claim) {
    if (!progress.toTruth(nanos.getAsLong())) {
      return CompletableFuture.completedFuture(Standing.GONE);
    }
    CompletionStage<Standing> answer;
    try {
      answer = truth.attempt(claim, standing -> progress.ring(plain(standing)));
    } catch (RuntimeException | Error e) {
      answer = CompletableFuture.failedFuture(e);
    }
    return answer.whenComplete(
        (standing, error) -> {
          if (standing != null) {
            progress.truthAnswered(standing);
          } else {
            progress.truthFailed();
          }
        });
  }

  Standing conclude(ClaimProgress progress, Standing standing, boolean mendKind) {
    Claim claim = progress.claim;
    if (standing instanceof Standing.OtherKind other) {
      mendKind(claim.lock(), other.kind());
    } else if (mendKind) {
      mendKind(claim.lock(), new Kind(claim.mode().capacity()));
    }
    if (standing instanceof Standing.Gone || standing instanceof Standing.OtherKind) {
      forget(progress);
      leaveGate(progress, claim);
    }
    return plain(standing);
  }

  /** Without followers: those of the truth's queue did not come through the gate. */
  static Standing plain(Standing standing) {
    return standing instanceof Standing.Held held && !held.followers().isEmpty()
        ? new Standing.Held(held.token(), held.lastToken())
        : standing;
  }

  private void mendKind(String lock, Kind kind) {
    gate.ask(Inspectable.class, inspectable -> inspectable.setKind(lock, kind));
  }

  /**
   * Claims of which the truth has said how they stand are renewed in calls of their own, which
   * neither the gate nor another claim's attempt holds up.
   */
  int renewGroup(Claim claim) {
    int atTruth = 2 * truth.renewGroup(claim);
    return isKnown(progresses.get(claim.id())) ? atTruth : atTruth + 1;
  }

  private static boolean isKnown(@Nullable ClaimProgress progress) {
    return progress == null || progress.isKnown();
  }

  CompletionStage<Map<ClaimId, Standing>> renew(Collection<Claim> claims) {
    List<Claim> known = new ArrayList<>();
    List<ClaimProgress> others = new ArrayList<>();
    long shortestLeaseMillis = Long.MAX_VALUE;
    for (Claim claim : claims) {
      shortestLeaseMillis = Math.min(shortestLeaseMillis, claim.leaseMillis());
      ClaimProgress progress = progresses.get(claim.id());
      if (progress == null || progress.isKnown()) {
        known.add(claim);
      } else {
        others.add(progress);
      }
    }
    if (others.isEmpty()) {
      return renewKnown(known);
    }
    CompletionStage<Map<ClaimId, Standing>> answer =
        new Renewal(this, gate, threads, nanos, others, shortestLeaseMillis).answer();
    return known.isEmpty() ? answer : either(renewKnown(known), answer);
  }

  /** At the truth, whose answer it is; the gate is told on the way. */
  private CompletionStage<Map<ClaimId, Standing>> renewKnown(List<Claim> known) {
    long now = nanos.getAsLong();
    List<Claim> gateClaims = new ArrayList<>();
    for (Claim claim : known) {
      ClaimProgress progress = progresses.get(claim.id());
      if (progress != null) {
        progress.heard(null, now);
        if (progress.mayBeAtGate()) {
          gateClaims.add(forGate(claim));
        }
      }
    }
    if (!gateClaims.isEmpty()) {
      threads.soon(() -> gate.ask(store -> store.renew(gateClaims)));
    }
    return renewAtTruth(known).thenApply(this::told);
  }

  private Map<ClaimId, Standing> told(Map<ClaimId, Standing> found) {
    Map<ClaimId, Standing> told = new HashMap<>();
    found.forEach(
        (id, standing) -> {
          ClaimProgress progress = progresses.get(id);
          if (progress != null && standing instanceof Standing.Gone) {
            goneAtTruth(progress);
          }
          told.put(id, plain(standing));
        });
    return told;
  }

  /** What is known of both, unless nothing is of either. */
  private static CompletionStage<Map<ClaimId, Standing>> either(
      CompletionStage<Map<ClaimId, Standing>> one, CompletionStage<Map<ClaimId, Standing>> other) {
    return one.handle(
            (first, error) ->
                other.handle(
                    (second, otherError) -> {
                      if (first == null && second == null) {
                        throw error instanceof CompletionException e
                            ? e
                            : new CompletionException(error);
                      }
                      Map<ClaimId, Standing> both = new HashMap<>();
                      both.putAll(first == null ? Map.of() : first);
                      both.putAll(second == null ? Map.of() : second);
                      return both;
                    }))
        .thenCompose(stage -> stage);
  }

  CompletionStage<Map<ClaimId, Standing>> renewAtTruth(List<Claim> claims) {
    try {
      return truth.renew(claims);
    } catch (RuntimeException | Error e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  void goneAtTruth(ClaimProgress progress) {
    forget(progress);
    threads.soon(() -> leaveGate(progress, progress.claim));
  }

  @Nullable ClaimProgress progress(ClaimId id) {
    return progresses.get(id);
  }

  void forget(ClaimProgress progress) {
    progresses.remove(progress.claim.id(), progress);
  }

  /** What {@code calls} asks on this thread is sent when all of it was asked. */
  void together(Runnable calls) {
    if (together.get() != null) {
      calls.run();
      return;
    }
    Together all = new Together(this, truth, threads);
    together.set(all);
    try {
      calls.run();
    } finally {
      together.remove();
      all.send();
    }
  }

  CompletionStage<Void> withdraw(Claim claim) {
    CompletableFuture<Void> gone = new CompletableFuture<>();
    CompletableFuture<Void> all =
        leaving.compute(
            claim.lock(),
            (lock, before) -> before == null ? gone : CompletableFuture.allOf(before, gone));
    all.thenRun(() -> leaving.remove(claim.lock(), all));
    try {
      return leave(claim).whenComplete((nothing, error) -> gone.complete(null));
    } catch (RuntimeException | Error e) {
      gone.complete(null);
      throw e;
    }
  }

  private CompletionStage<Void> leave(Claim claim) {
    ClaimProgress progress = progresses.get(claim.id());
    Together all = together.get();
    if (progress == null) {
      return withdraw(all, claim, nothing -> leaveGate(null, claim));
    }
    progress.end();
    if (!progress.isSent() && !claim.unsettled()) {
      forget(progress);
      if (all != null) {
        return CompletableFuture.supplyAsync(() -> leaveGate(progress, claim), threads.awaited());
      }
      leaveGate(progress, claim);
      return CompletableFuture.completedFuture(null);
    }
    return withdraw(
        all,
        progress.isUnsettled() ? claim.asUnsettled() : claim,
        nothing -> {
          forget(progress);
          return leaveGate(progress, claim);
        });
  }

  private CompletionStage<Void> withdraw(
      @Nullable Together all, Claim claim, Function<Void, Void> then) {
    return all == null
        ? threads.then(truth.withdraw(claim), then)
        : all.atTruth(() -> truth.withdraw(claim), then);
  }

  /** Takes the claim out of the gate; one that the gate misses is told to it when it is back. */
  @SuppressWarnings("NullAway") // the Void of a stage
  private Void leaveGate(@Nullable ClaimProgress progress, Claim claim) {
    if (progress == null || progress.mayBeAtGate()) {
      boolean doubtful = progress != null && progress.isDoubtfulAtGate();
      owed.withdraw(forGate(doubtful ? claim.asUnsettled() : claim));
    }
    return null;
  }

  void gateIsBack() {
    owed.pay();
  }

  boolean owesTheGate() {
    return owed.areSome() || leftAtGate().findAny().isPresent();
  }

  /** Those of whose end the truth has not heard, and so neither has the gate. */
  private Stream<Claim> leftAtGate() {
    return progresses.values().stream()
        .filter(ClaimProgress::isLeftAtGate)
        .map(progress -> forGate(progress.claim));
  }

  /** Waits for the gate's patience at most, unless the gate itself blocks. */
  void closing() {
    leftAtGate().forEach(owed::owe);
    owed.payLast();
  }

  /**
   * Forgets claims whose client has. Where the truth could not be told of their end until they had
   * run out there, nor was the gate.
   */
  void sweep() {
    long now = nanos.getAsLong();
    for (ClaimProgress progress : progresses.values()) {
      if (progress.isForgotten(now)) {
        forget(progress);
        if (progress.mayBeAtGate()) {
          owed.forget(forGate(progress.claim));
        }
      }
    }
  }
}
