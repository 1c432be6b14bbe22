package io.pawl;

import io.pawl.error.StoreUnavailableException;
import io.pawl.spi.Bell;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.LockStore;
import io.pawl.spi.Standing;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Function;

/** A store that answers when and what the test says. */
final class ScriptedStore implements LockStore {

  static final Standing WAITING = new Standing.Waiting(Duration.ofHours(1));

  /** A request that was made. */
  record Attempt(Claim claim, Bell bell, CompletableFuture<Standing> answer) {}

  /** A renewal that was asked for. */
  record Renewal(List<Claim> claims, CompletableFuture<Map<ClaimId, Standing>> answer) {

    void answerAll(Standing standing) {
      answer.complete(Map.of(claims.get(0).id(), standing));
    }
  }

  /** What the next attempts are answered at once. */
  final Queue<CompletableFuture<Standing>> answers = new ArrayDeque<>();

  /** Called during each attempt. */
  Consumer<Claim> asked = claim -> {};

  /** Called during each withdrawal. */
  Consumer<Claim> withdrawing = claim -> {};

  final List<Attempt> attempts = new ArrayList<>();
  final List<Renewal> renewals = new ArrayList<>();
  final List<Claim> withdrawals = new ArrayList<>();
  boolean blocks;
  boolean servesOthers;
  boolean attemptsArriveOnce;

  /** How often a thread offered to do I/O of the store's. */
  int offers;

  Duration answerTime = Duration.ofMillis(500);
  int failingWithdrawals;
  Throwable withdrawalFailure = unavailable();

  /** What withdrawals are answered. */
  CompletableFuture<Void> withdrawal = CompletableFuture.completedFuture(null);

  static Standing held(long token) {
    return new Standing.Held(token, token);
  }

  static StoreUnavailableException unavailable() {
    return new StoreUnavailableException("scripted");
  }

  /** Answers every renewal that has not been answered yet. */
  void answerRenewals(Function<Claim, Standing> standing) {
    for (Renewal renewal : renewals) {
      Map<ClaimId, Standing> standings = new HashMap<>();
      renewal.claims.forEach(claim -> standings.put(claim.id(), standing.apply(claim)));
      renewal.answer.complete(standings);
    }
  }

  Attempt attempt(int number) {
    return attempts.get(number);
  }

  @Override
  public CompletionStage<Standing> attempt(Claim claim, Bell bell) {
    CompletableFuture<Standing> answer =
        answers.isEmpty() ? new CompletableFuture<>() : answers.remove();
    Attempt attempt = new Attempt(claim, bell, answer);
    attempts.add(attempt);
    asked.accept(claim);
    return attempt.answer;
  }

  @Override
  public CompletionStage<Map<ClaimId, Standing>> renew(Collection<Claim> claims) {
    Renewal renewal = new Renewal(List.copyOf(claims), new CompletableFuture<>());
    renewals.add(renewal);
    return renewal.answer;
  }

  @Override
  public CompletionStage<Void> withdraw(Claim claim) {
    withdrawals.add(claim);
    withdrawing.accept(claim);
    if (failingWithdrawals-- > 0) {
      return CompletableFuture.failedFuture(withdrawalFailure);
    }
    return withdrawal;
  }

  @Override
  public void awaited(Runnable call) {
    offers++;
    call.run();
  }

  @Override
  public Duration answerTime() {
    return answerTime;
  }

  @Override
  public boolean servesOthers() {
    return servesOthers;
  }

  @Override
  public boolean attemptsArriveOnce() {
    return attemptsArriveOnce;
  }

  @Override
  public boolean blocks() {
    return blocks;
  }

  @Override
  public String describe() {
    return "scripted";
  }

  @Override
  public void close() {}
}
