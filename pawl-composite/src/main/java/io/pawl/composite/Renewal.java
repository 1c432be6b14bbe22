package io.pawl.composite;

import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Standing;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One renewal of claims of which the truth has said nothing yet: some wait at the gate, some are on
 * their way to the truth. It is answered in time even so: any of them may be granted meanwhile, and
 * its next renewal waits for the answer to this one. What is not known by then goes on.
 */
final class Renewal {

  /** How long an attempt of the same claim is awaited; the whole renewal takes twice as long. */
  private static final long LONGEST_AWAIT_MILLIS = 1_000;

  private final GateLocks locks;
  private final Gate gate;
  private final Threads threads;
  private final LongSupplier nanos;
  private final List<ClaimProgress> progresses;
  private final Map<ClaimProgress, Boolean> waiting = new HashMap<>();
  private final List<Claim> sent = new ArrayList<>();
  private final List<Claim> gateClaims = new ArrayList<>();
  private final List<ClaimProgress> asks = new ArrayList<>();
  private final ConcurrentHashMap<ClaimId, Standing> told = new ConcurrentHashMap<>();
  private final List<CompletableFuture<?>> answers = new ArrayList<>();
  private final long patienceMillis;
  private volatile @Nullable Throwable failure;

  /**
   * @param shortestLeaseMillis of all claims of the call, held ones too: it is answered as one
   */
  Renewal(
      GateLocks locks,
      Gate gate,
      Threads threads,
      LongSupplier nanos,
      List<ClaimProgress> progresses,
      long shortestLeaseMillis) {
    this.locks = locks;
    this.gate = gate;
    this.threads = threads;
    this.nanos = nanos;
    this.progresses = progresses;
    this.patienceMillis = Math.min(LONGEST_AWAIT_MILLIS, shortestLeaseMillis / 10);
    long now = nanos.getAsLong();
    for (ClaimProgress progress : progresses) {
      boolean inTime = progress.heard(null, now);
      if (progress.mayBeAtGate()) {
        gateClaims.add(GateLocks.forGate(progress.claim));
      }
      if (progress.isSent()) {
        sent.add(progress.claim);
      } else {
        waiting.put(progress, inTime);
      }
    }
  }

  CompletionStage<Map<ClaimId, Standing>> answer() {
    CompletableFuture<Void> all = new CompletableFuture<>();
    threads.awaited().execute(() -> run(all));
    return threads.overAfter(2 * patienceMillis, all).thenApply(nothing -> standings());
  }

  private void run(CompletableFuture<Void> all) {
    try {
      renewSent();
      renewWaiting();
      askTruth();
    } catch (RuntimeException e) {
      failure = e;
    }
    CompletableFuture.allOf(answers.toArray(CompletableFuture[]::new))
        .whenComplete((nothing, error) -> all.complete(null));
  }

  /** What waits at the gate, and is not sent to the truth before now, does so. */
  private Map<ClaimId, Standing> standings() {
    Map<ClaimId, Standing> standings = new HashMap<>(told);
    for (ClaimProgress progress : progresses) {
      if (progress.isWaiting()) {
        standings.putIfAbsent(progress.claim.id(), new Standing.Waiting(progress.claim.lease()));
      }
    }
    Throwable cause = failure;
    if (standings.isEmpty() && cause != null) {
      throw cause instanceof CompletionException e ? e : new CompletionException(cause);
    }
    return standings;
  }

  private void renewSent() {
    if (!sent.isEmpty()) {
      answers.add(noting(locks.renewAtTruth(sent).thenCompose(this::tell)));
    }
  }

  private void renewWaiting() {
    Map<ClaimId, Standing> atGate =
        gateClaims.isEmpty() ? Map.of() : gate.ask(store -> store.renew(gateClaims));
    waiting.forEach(
        (progress, inTime) -> {
          ClaimId id = progress.claim.id();
          Standing standing = atGate == null ? null : atGate.get(id);
          if (standing instanceof Standing.Gone && inTime) {
            standing = locks.askGate(progress); // it has forgotten: stand in line anew
          }
          if (standing instanceof Standing.Waiting) {
            told.put(id, standing);
          } else if (standing == null
              || standing instanceof Standing.Held
              || !progress.endsUnsent()) {
            letThrough(progress);
          } else {
            locks.forget(progress);
            told.put(id, Standing.GONE);
          }
        });
  }

  /** Unless its bell has just done so. */
  private void letThrough(ClaimProgress progress) {
    if (progress.startsForTruth(nanos.getAsLong())) {
      asks.add(progress);
    } else {
      answers.add(noting(afterAttempt(progress)));
    }
  }

  /**
   * The claim is on its way to the truth, whose answer is awaited for a moment; but what it tells
   * is only as old as the attempt, so that a renewal follows it.
   */
  private CompletionStage<Void> afterAttempt(ClaimProgress progress) {
    return threads
        .overAfter(patienceMillis, progress.answered().copy())
        .thenComposeAsync(
            nothing -> {
              boolean known = progress.isKnown();
              return locks
                  .renewAtTruth(List.of(progress.claim))
                  .thenAccept(found -> found.forEach((id, standing) -> tell(id, standing, known)));
            },
            threads.awaited());
  }

  /** What fails alone is left out, unless nothing else is known. */
  private void askTruth() {
    if (asks.size() == 1) {
      answers.add(ask(asks.get(0)));
      return;
    }
    for (ClaimProgress progress : asks) {
      answers.add(
          CompletableFuture.supplyAsync(() -> ask(progress), threads.awaited())
              .thenCompose(answer -> answer));
    }
  }

  private CompletableFuture<?> ask(ClaimProgress progress) {
    return noting(
        locks
            .askTruth(progress)
            .thenAccept(
                standing ->
                    told.put(
                        progress.claim.id(),
                        standing instanceof Standing.OtherKind ? Standing.GONE : standing)));
  }

  private CompletionStage<Void> tell(Map<ClaimId, Standing> standings) {
    long now = nanos.getAsLong();
    List<CompletableFuture<?>> awaited = new ArrayList<>();
    standings.forEach(
        (id, found) -> {
          ClaimProgress progress = locks.progress(id);
          if (progress != null && found instanceof Standing.Gone && progress.maySoonBeKnown(now)) {
            awaited.add(noting(afterAttempt(progress)));
          } else {
            tell(id, found, false);
          }
        });
    return CompletableFuture.allOf(awaited.toArray(CompletableFuture[]::new));
  }

  /**
   * What the truth does not know though an attempt was sent to it is left out: the engine repeats
   * the attempt, and takes no bell of one that it has repeated for a grant. To repeat it here,
   * behind its back, could hand out a grant that ran out before its reply came.
   *
   * @param known whether the truth had told how it stands before it was asked for this
   */
  private void tell(ClaimId id, Standing found, boolean known) {
    ClaimProgress progress = locks.progress(id);
    if (progress == null) {
      told.put(id, GateLocks.plain(found));
    } else if (!(found instanceof Standing.Gone)) {
      progress.found();
      told.put(id, GateLocks.plain(found));
    } else if (known) {
      told.put(id, found);
      locks.goneAtTruth(progress);
    } else if (progress.isUnderWay(nanos.getAsLong())) {
      told.put(id, new Standing.Waiting(progress.claim.lease()));
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
