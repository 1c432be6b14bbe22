package io.pawl.composite;

import io.pawl.spi.Bell;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.GrantRule;
import io.pawl.spi.Inspectable;
import io.pawl.spi.Kind;
import io.pawl.spi.LockStore;
import io.pawl.spi.Standing;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Locks through a gate: contenders stand in the gate's line, and whoever the gate lets through asks
 * the truth, whose grant and tokens alone count.
 *
 * <ul>
 *   <li><b>attempt</b>: the gate first. Waiting there, or busy there: that is the answer. Let
 *       through, at once or by bell: an attempt at the truth. Gate away: an attempt at the truth.
 *   <li><b>renew</b>: both, for claims that are at both; the truth decides where it was asked. A
 *       claim is sent to it once, unless the engine repeats its attempt.
 *   <li><b>withdraw</b>: the truth first, so that the next whom the gate lets through finds it
 *       free.
 * </ul>
 *
 * <p>Clients that see the gate and clients that do not meet in the truth's own line. Nobody in it
 * waits for the gate, so nobody waits forever. Verbs wait for the gate on the calling thread, for
 * its patience at most.
 */
final class GateLocks {

  /** How long a renewal awaits an attempt of the same claim; what goes with it waits too. */
  private static final long LONGEST_AWAIT_MILLIS = 1_000;

  private final Gate gate;
  private final LockStore truth;
  private final Threads threads;
  private final LongSupplier nanos;
  private final ConcurrentHashMap<ClaimId, Passage> passages = new ConcurrentHashMap<>();
  private final Debts debts;

  GateLocks(Gate gate, LockStore truth, Threads threads, LongSupplier nanos) {
    this.gate = gate;
    this.truth = truth;
    this.threads = threads;
    this.nanos = nanos;
    this.debts = new Debts(gate, threads);
  }

  CompletionStage<Standing> attempt(Claim claim, Bell bell) {
    long now = nanos.getAsLong();
    Passage passage = passages.computeIfAbsent(claim.id(), id -> new Passage(claim, bell, now));
    passage.heard(bell, now);
    if (passage.isSent()) {
      return again(passage, claim);
    }
    Standing atGate = askGate(passage);
    if (atGate instanceof Standing.Waiting) {
      return CompletableFuture.completedFuture(atGate);
    }
    if (atGate instanceof Standing.Gone) {
      passages.remove(claim.id(), passage);
      return CompletableFuture.completedFuture(atGate);
    }
    return askTruth(passage, claim, atGate instanceof Standing.OtherKind);
  }

  /** The truth first: of a downgrade the readers at the gate must not learn before it. */
  private CompletionStage<Standing> again(Passage passage, Claim claim) {
    CompletionStage<Standing> answer = askTruth(passage, claim, false);
    return threads.then(
        answer,
        standing -> {
          if (passage.mayBeAtGate() && standing instanceof Standing.Held) {
            gate.ask(store -> store.attempt(forGate(claim), rung -> {}));
          }
          return standing;
        });
  }

  /** How it stands at the gate; null where the gate is away. */
  private @Nullable Standing askGate(Passage passage) {
    if (gate.isAway()) {
      return null;
    }
    passage.toGate();
    Standing standing =
        gate.ask(store -> store.attempt(forGate(passage.claim), rung -> gateRang(passage, rung)));
    passage.gateAnswered(standing);
    return standing;
  }

  /**
   * No more tokens than followers could use; the gate's are not the truth's. Without a shortest
   * hold, which the truth keeps: a gate thinks no lock busy for longer than a lease.
   */
  private static Claim forGate(Claim claim) {
    return new Claim(
        claim.lock(),
        claim.id(),
        claim.mode(),
        claim.lease(),
        claim.queues(),
        Math.min(claim.tokens(), 1 + GrantRule.MAX_FOLLOWERS),
        0,
        claim.unsettled(),
        claim.holder());
  }

  private void gateRang(Passage passage, Standing standing) {
    if (standing instanceof Standing.Held held) {
      passage.followedBy(held.followers());
      threads.soon(() -> letThrough(passage));
    }
  }

  private void letThrough(Passage passage) {
    if (passage.startsForTruth(nanos.getAsLong())) {
      askTruth(passage)
          .whenComplete(
              (standing, error) -> {
                if (standing instanceof Standing.Held held) {
                  passage.ring(passage.leading(held));
                }
              });
    }
  }

  /**
   * For a claim that stood in the gate's line: it keeps its place though the semaphore was given
   * other permits meanwhile.
   */
  private CompletionStage<Standing> askTruth(Passage passage) {
    CompletionStage<Standing> answer =
        threads
            .then(
                send(passage, passage.claim),
                standing -> {
                  Claim fitted = passage.fitted(standing);
                  return fitted == null
                      ? CompletableFuture.completedFuture(standing)
                      : send(passage, fitted);
                })
            .thenCompose(stage -> stage);
    return threads.then(answer, standing -> conclude(passage, standing, false));
  }

  private CompletionStage<Standing> askTruth(Passage passage, Claim claim, boolean mendKind) {
    return threads.then(send(passage, claim), standing -> conclude(passage, standing, mendKind));
  }

  private CompletionStage<Standing> send(Passage passage, Claim claim) {
    if (!passage.toTruth(nanos.getAsLong())) {
      return CompletableFuture.completedFuture(Standing.GONE);
    }
    CompletionStage<Standing> answer;
    try {
      answer = truth.attempt(claim, standing -> passage.ring(plain(standing)));
    } catch (RuntimeException e) {
      answer = CompletableFuture.failedFuture(e);
    }
    return answer.whenComplete(
        (standing, error) -> {
          if (standing != null) {
            passage.truthAnswered();
          } else {
            passage.truthFailed();
          }
        });
  }

  private Standing conclude(Passage passage, Standing standing, boolean mendKind) {
    Claim claim = passage.claim;
    if (standing instanceof Standing.OtherKind other) {
      mendKind(claim.lock(), other.kind());
    } else if (mendKind) {
      mendKind(claim.lock(), new Kind(claim.mode().capacity()));
    }
    if (standing instanceof Standing.Gone || standing instanceof Standing.OtherKind) {
      passages.remove(claim.id(), passage);
      leaveGate(passage, claim);
    }
    return plain(standing);
  }

  /** Without followers: those of the truth's line did not come through the gate. */
  private static Standing plain(Standing standing) {
    return standing instanceof Standing.Held held && !held.followers().isEmpty()
        ? new Standing.Held(held.token(), held.lastToken())
        : standing;
  }

  private void mendKind(String lock, Kind kind) {
    gate.ask(Inspectable.class, inspectable -> inspectable.setKind(lock, kind));
  }

  CompletionStage<Map<ClaimId, Standing>> renew(Collection<Claim> claims) {
    long now = nanos.getAsLong();
    Renewal renewal = new Renewal(claims);
    List<Claim> gateClaims = new ArrayList<>();
    Map<Passage, Boolean> waiting = new HashMap<>();
    for (Claim claim : claims) {
      Passage passage = passages.get(claim.id());
      if (passage == null) {
        renewal.sent.add(claim);
        continue;
      }
      boolean inTime = passage.heard(null, now);
      if (passage.mayBeAtGate()) {
        gateClaims.add(forGate(claim));
      }
      if (passage.isSent()) {
        renewal.sent.add(claim);
      } else {
        waiting.put(passage, inTime);
      }
    }
    renewal.renewSent(); // what is held does not wait for the gate
    Map<ClaimId, Standing> atGate =
        gateClaims.isEmpty() ? Map.of() : gate.ask(store -> store.renew(gateClaims));
    waiting.forEach(
        (passage, inTime) -> {
          ClaimId id = passage.claim.id();
          Standing standing = atGate == null ? null : atGate.get(id);
          if (standing instanceof Standing.Gone && inTime) {
            standing = askGate(passage); // it has forgotten: stand in line anew
          }
          if (standing instanceof Standing.Waiting) {
            renewal.told.put(id, standing);
          } else if (standing == null || standing instanceof Standing.Held) {
            renewal.letThrough(passage);
          } else {
            passages.remove(id, passage);
            renewal.told.put(id, Standing.GONE);
          }
        });
    return renewal.askTruth();
  }

  /** What of a renewal goes to the truth, and what is known already. */
  private final class Renewal {
    private final List<Claim> sent = new ArrayList<>();
    private final List<Passage> asks = new ArrayList<>();
    private final ConcurrentHashMap<ClaimId, Standing> told = new ConcurrentHashMap<>();
    private final List<CompletableFuture<?>> answers = new ArrayList<>();
    private final long patienceMillis;
    private volatile @Nullable Throwable failure;

    Renewal(Collection<Claim> claims) {
      long shortest =
          claims.stream().mapToLong(Claim::leaseMillis).min().orElse(LONGEST_AWAIT_MILLIS);
      patienceMillis = Math.min(LONGEST_AWAIT_MILLIS, shortest / 10);
    }

    void renewSent() {
      if (!sent.isEmpty()) {
        answers.add(noting(renewAtTruth(sent).thenCompose(this::tell)));
      }
    }

    /** Unless its bell has just done so. */
    void letThrough(Passage passage) {
      if (passage.startsForTruth(nanos.getAsLong())) {
        asks.add(passage);
      } else {
        answers.add(noting(afterAttempt(passage)));
      }
    }

    /**
     * The claim is on its way to the truth, whose answer is awaited for a moment; but what it tells
     * is only as old as the attempt, so that a renewal follows it.
     */
    private CompletionStage<Void> afterAttempt(Passage passage) {
      return passage
          .answered()
          .copy()
          .completeOnTimeout(null, patienceMillis, TimeUnit.MILLISECONDS)
          .thenComposeAsync(nothing -> renewAtTruth(List.of(passage.claim)), threads.awaited())
          .thenAccept(standings -> standings.forEach(this::tell));
    }

    /** What fails alone is left out, unless nothing else is known. */
    CompletionStage<Map<ClaimId, Standing>> askTruth() {
      if (asks.size() == 1) {
        answers.add(ask(asks.get(0)));
      } else {
        for (Passage passage : asks) {
          answers.add(
              CompletableFuture.supplyAsync(() -> ask(passage), threads.awaited())
                  .thenCompose(answer -> answer));
        }
      }
      return CompletableFuture.allOf(answers.toArray(CompletableFuture[]::new))
          .thenApply(
              nothing -> {
                Throwable cause = failure;
                if (told.isEmpty() && cause != null) {
                  throw cause instanceof CompletionException e ? e : new CompletionException(cause);
                }
                return told;
              });
    }

    private CompletionStage<Map<ClaimId, Standing>> renewAtTruth(List<Claim> claims) {
      try {
        return truth.renew(claims);
      } catch (RuntimeException e) {
        return CompletableFuture.failedFuture(e);
      }
    }

    private CompletableFuture<?> ask(Passage passage) {
      return noting(
          GateLocks.this
              .askTruth(passage)
              .thenAccept(
                  standing ->
                      told.put(
                          passage.claim.id(),
                          standing instanceof Standing.OtherKind ? Standing.GONE : standing)));
    }

    /**
     * What the truth does not know though an attempt was sent to it is left out: the engine repeats
     * the attempt, and takes no bell of one that it has repeated for a grant. To repeat it here,
     * behind its back, could hand out a grant that ran out before its reply came.
     */
    private CompletionStage<Void> tell(Map<ClaimId, Standing> standings) {
      long now = nanos.getAsLong();
      List<CompletableFuture<?>> awaited = new ArrayList<>();
      standings.forEach(
          (id, found) -> {
            Passage passage = passages.get(id);
            if (passage != null && found instanceof Standing.Gone && passage.isUnderWay(now)) {
              awaited.add(noting(afterAttempt(passage)));
            } else {
              tell(id, found);
            }
          });
      return CompletableFuture.allOf(awaited.toArray(CompletableFuture[]::new));
    }

    private void tell(ClaimId id, Standing found) {
      Passage passage = passages.get(id);
      Standing standing = passage == null ? found : passage.renewed(found, nanos.getAsLong());
      if (standing == null) {
        return;
      }
      told.put(id, plain(standing));
      if (passage != null && standing instanceof Standing.Gone) {
        passages.remove(id, passage);
        threads.soon(() -> leaveGate(passage, passage.claim));
      }
    }

    private CompletableFuture<?> noting(CompletionStage<Void> answer) {
      return answer
          .toCompletableFuture()
          .handle(
              (nothing, error) -> {
                if (error != null) {
                  failure = error;
                }
                return null;
              });
    }
  }

  CompletionStage<Void> withdraw(Claim claim) {
    Passage passage = passages.get(claim.id());
    if (passage == null) {
      return threads.then(truth.withdraw(claim), nothing -> leaveGate(null, claim));
    }
    passage.end();
    if (!passage.isSent() && !claim.unsettled()) {
      passages.remove(claim.id(), passage);
      leaveGate(passage, claim);
      return CompletableFuture.completedFuture(null);
    }
    Claim gone = passage.isUnsettled() ? claim.asUnsettled() : claim;
    return threads.then(
        truth.withdraw(gone),
        nothing -> {
          passages.remove(claim.id(), passage);
          return leaveGate(passage, claim);
        });
  }

  /** Takes the claim out of the gate; one that the gate misses is told to it when it is back. */
  @SuppressWarnings("NullAway") // the Void of a stage
  private Void leaveGate(@Nullable Passage passage, Claim claim) {
    if (passage == null || passage.mayBeAtGate()) {
      boolean doubtful = passage != null && passage.isDoubtfulAtGate();
      debts.withdraw(forGate(doubtful ? claim.asUnsettled() : claim));
    }
    return null;
  }

  void gateIsBack() {
    debts.pay();
  }

  /** Forgets claims whose client has. */
  void sweep() {
    long now = nanos.getAsLong();
    passages.values().removeIf(passage -> passage.isForgotten(now));
  }
}
