package io.pawl;

import io.pawl.SimulatedProcess.Context;
import io.pawl.error.StoreUnavailableException;
import io.pawl.memory.MemoryStore;
import io.pawl.spi.Bell;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.LockStore;
import io.pawl.spi.Standing;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

/** One process' bad connection to the one store of the world. */
final class SimulatedStore implements LockStore {

  private final EventQueue queue;
  private final SimulatedProcess process;
  private final MemoryStore store;
  private final Faults faults;
  private final History history;
  private final boolean blocks;

  /** When the last request for a lock arrives: those of one client arrive in order. */
  private final Map<String, Long> lastArrival = new HashMap<>();

  private final Set<ClaimId> withdrawn = new HashSet<>();

  SimulatedStore(
      EventQueue queue,
      SimulatedProcess process,
      MemoryStore store,
      Faults faults,
      History history,
      boolean blocks) {
    this.queue = queue;
    this.process = process;
    this.store = store;
    this.faults = faults;
    this.history = history;
    this.blocks = blocks;
  }

  @Override
  public CompletionStage<Standing> attempt(Claim claim, Bell bell) {
    Bell far = standing -> ring(claim, bell, standing);
    return call(
        List.of(claim),
        () -> {
          Standing standing = now(store.attempt(claim, far));
          history.stands(claim, standing);
          return standing;
        });
  }

  @Override
  public CompletionStage<Map<ClaimId, Standing>> renew(Collection<Claim> claims) {
    List<Claim> batch = List.copyOf(claims);
    if (!blocks && batch.stream().map(Claim::id).anyMatch(withdrawn::contains)) {
      history.violation("P4: renewed after its release: " + batch);
    }
    return call(
        batch,
        () -> {
          Map<ClaimId, Standing> standings = new HashMap<>(now(store.renew(batch)));
          batch.forEach(claim -> history.stands(claim, standings.get(claim.id())));
          batch.stream()
              .filter(claim -> faults.omitsFromAnswer())
              .forEach(claim -> standings.remove(claim.id()));
          return standings;
        });
  }

  @Override
  public CompletionStage<Void> withdraw(Claim claim) {
    withdrawn.add(claim.id());
    return call(
        List.of(claim),
        () -> {
          history.withdraws(store, claim, () -> now(store.withdraw(claim)));
          return null;
        });
  }

  private void ring(Claim claim, Bell bell, Standing standing) {
    history.stands(claim, standing);
    if (!faults.losesBell()) {
      process.run(faults.delay(), Context.STORE, () -> bell.ring(standing));
    }
    if (faults.repeatsBell()) {
      process.run(faults.lateness(), Context.STORE, () -> bell.ring(standing));
    }
  }

  private <T> CompletionStage<T> call(List<Claim> claims, Supplier<T> verb) {
    if (blocks && process.context() != Context.WORKER) {
      history.violation("a store that blocks was called in " + process.context());
    }
    CompletableFuture<T> answer = new CompletableFuture<>();
    Faults.Fate fate = faults.next();
    queue.trace(fate.ordinal());
    Runnable unheard = () -> history.unheard(verb.get());
    switch (fate) {
      case ANSWERED -> arrive(claims, () -> reply(answer, verb.get()));
      case REFUSED -> fail(answer, faults.delay());
      case REQUEST_LOST -> fail(answer, faults.timeoutNanos());
      case REPLY_LOST -> {
        arrive(claims, unheard);
        fail(answer, faults.timeoutNanos());
      }
      case LATE -> {
        queue.after(faults.timeoutNanos() + faults.lateness(), unheard);
        fail(answer, faults.timeoutNanos());
      }
      case TWICE -> {
        arrive(claims, unheard);
        queue.after(faults.timeoutNanos() + faults.lateness(), unheard);
        fail(answer, faults.timeoutNanos());
      }
      case BROKEN -> throw new IllegalStateException("a bug in the store");
    }
    return answer;
  }

  private void arrive(List<Claim> claims, Runnable verb) {
    long at = queue.now() + faults.delay();
    for (Claim claim : claims) {
      at = Math.max(at, lastArrival.getOrDefault(claim.lock(), 0L) + 1);
    }
    for (Claim claim : claims) {
      lastArrival.put(claim.lock(), at);
    }
    queue.at(at, verb);
  }

  private <T> void reply(CompletableFuture<T> answer, T result) {
    process.run(faults.delay(), Context.STORE, () -> answer.complete(result));
  }

  private void fail(CompletableFuture<?> answer, long delay) {
    process.run(
        delay,
        Context.STORE,
        () -> answer.completeExceptionally(new StoreUnavailableException("simulated")));
  }

  private static <T> T now(CompletionStage<T> stage) {
    return stage.toCompletableFuture().join();
  }

  @Override
  public int renewBatch() {
    return 3;
  }

  @Override
  public boolean blocks() {
    return blocks;
  }

  @Override
  public String describe() {
    return "simulation";
  }

  @Override
  public void close() {}
}
