package io.pawl.composite;

import io.pawl.spi.Claim;
import io.pawl.spi.LockStore;
import io.pawl.spi.Standing;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What was asked together: all of it of the gate first, in its one trip, and then of the truth what
 * the gate lets through, in its one trip. So neither part is kept while the other is awaited.
 *
 * <p>Used by one thread.
 */
final class Together {

  private record Attempt(ClaimProgress progress, Claim claim, CompletableFuture<Standing> answer) {}

  private final GateLocks locks;
  private final LockStore truth;
  private final Threads threads;
  private final List<Attempt> atGate = new ArrayList<>();
  private final List<Runnable> toTruth = new ArrayList<>();
  private final List<Runnable> afterwards = new ArrayList<>();
  private final Set<CompletableFuture<?>> unsent = new LinkedHashSet<>();

  Together(GateLocks locks, LockStore truth, Threads threads) {
    this.locks = locks;
    this.truth = truth;
    this.threads = threads;
  }

  CompletionStage<Standing> attempt(ClaimProgress progress, Claim claim) {
    CompletableFuture<Standing> answer = new CompletableFuture<>();
    atGate.add(new Attempt(progress, claim, answer));
    return answer;
  }

  /**
   * @param then runs on a worker, and may block
   */
  <T> CompletionStage<T> atTruth(Supplier<CompletionStage<T>> verb, Function<T, T> then) {
    CompletableFuture<T> answer = new CompletableFuture<>();
    addToTruth(verb, then, answer);
    return answer;
  }

  private <T> void addToTruth(
      Supplier<CompletionStage<T>> verb, Function<T, T> then, CompletableFuture<T> answer) {
    unsent.add(answer);
    toTruth.add(() -> send(verb, then, answer));
  }

  private <T> void send(
      Supplier<CompletionStage<T>> verb, Function<T, T> then, CompletableFuture<T> answer) {
    unsent.remove(answer);
    CompletionStage<T> sent;
    try {
      sent = verb.get();
    } catch (RuntimeException | Error e) {
      sent = CompletableFuture.failedFuture(e);
    }
    CompletionStage<T> stage = sent;
    afterwards.add(
        () ->
            stage
                .thenApplyAsync(then, threads.awaited())
                .whenComplete(
                    (value, error) -> {
                      if (error == null) {
                        answer.complete(value);
                      } else {
                        answer.completeExceptionally(error);
                      }
                    }));
  }

  /** Sends what was asked since the last time. */
  void send() {
    try {
      sendAll();
    } finally {
      atGate.clear();
      toTruth.clear();
      afterwards.clear();
      unsent.clear();
    }
  }

  private void sendAll() {
    try {
      askGate();
    } catch (RuntimeException | Error e) { // of memory, or of a logger
      for (Attempt attempt : atGate) {
        if (!unsent.contains(attempt.answer)) {
          attempt.answer.completeExceptionally(e);
        }
      }
    }
    try {
      if (!toTruth.isEmpty()) {
        truth.together(() -> toTruth.forEach(Runnable::run));
      }
    } catch (RuntimeException | Error e) {
      unsent.forEach(answer -> answer.completeExceptionally(e));
    }
    afterwards.forEach(Runnable::run);
  }

  private void askGate() {
    List<@Nullable Standing> standings =
        locks.askGate(atGate.stream().map(Attempt::progress).toList());
    for (int i = 0; i < atGate.size(); i++) {
      Attempt attempt = atGate.get(i);
      Standing standing = standings.get(i);
      if (locks.isAnsweredAtGate(attempt.progress, standing)) {
        afterwards.add(() -> attempt.answer.complete(standing));
      } else {
        letThrough(attempt, standing instanceof Standing.OtherKind);
      }
    }
  }

  private void letThrough(Attempt attempt, boolean mendKind) {
    addToTruth(
        () -> locks.send(attempt.progress, attempt.claim),
        standing -> locks.conclude(attempt.progress, standing, mendKind),
        attempt.answer);
  }
}
