package io.pawl.spring.test;

import io.pawl.error.NameInUseException;
import io.pawl.memory.MemoryStore;
import io.pawl.spi.Bell;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.CounterAnswer;
import io.pawl.spi.CounterRequest;
import io.pawl.spi.CounterStore;
import io.pawl.spi.CounterView;
import io.pawl.spi.Inspectable;
import io.pawl.spi.Kind;
import io.pawl.spi.LedgerEntry;
import io.pawl.spi.LockStore;
import io.pawl.spi.Standing;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;

/** A store in memory whose holds can be ended. */
final class LosableStore implements LockStore, Inspectable, CounterStore {

  private final MemoryStore memory = new MemoryStore();
  private volatile MemoryStore counters = new MemoryStore();

  /** Of claims that hold or wait. */
  private final Map<ClaimId, Bell> bells = new ConcurrentHashMap<>();

  /**
   * Ends the holds. A bell that says of a hold what it does not know tells its holder that the hold
   * is another's, as a renewal would.
   */
  boolean lose(String lock) {
    List<ClaimView> holders = view(lock).map(LockView::holders).orElse(List.of());
    for (ClaimView holder : holders) {
      memory.evict(lock, holder.token()).toCompletableFuture().join();
      Bell bell = bells.remove(holder.id());
      if (bell != null) {
        bell.ring(new Standing.Held(holder.lastToken() + 1, holder.lastToken() + 1));
      }
    }
    return !holders.isEmpty();
  }

  /** Tokens go on growing, as a fence of the application may have seen them. */
  void reset() {
    memory.list(Integer.MAX_VALUE).toCompletableFuture().join().stream()
        .filter(lock -> !lock.holders().isEmpty())
        .forEach(lock -> lose(lock.name()));
    MemoryStore old = counters;
    counters = new MemoryStore();
    old.close();
  }

  Optional<LockView> view(String lock) {
    return memory.show(lock).toCompletableFuture().join();
  }

  @Override
  public CompletionStage<Standing> attempt(Claim claim, Bell bell) {
    if (counters.read(claim.lock()).toCompletableFuture().join().isPresent()) {
      return CompletableFuture.failedFuture(NameInUseException.byCounter(claim.lock()));
    }
    bells.put(claim.id(), bell);
    return memory
        .attempt(claim, bell)
        .whenComplete(
            (standing, failure) -> {
              if (!(standing instanceof Standing.Held || standing instanceof Standing.Waiting)) {
                bells.remove(claim.id());
              }
            });
  }

  @Override
  public CompletionStage<Map<ClaimId, Standing>> renew(Collection<Claim> claims) {
    return memory.renew(claims);
  }

  @Override
  public CompletionStage<Void> withdraw(Claim claim) {
    bells.remove(claim.id());
    return memory.withdraw(claim);
  }

  @Override
  public CompletionStage<List<LockView>> list(int limit) {
    return memory.list(limit);
  }

  @Override
  public CompletionStage<Optional<LockView>> show(String lock) {
    return memory.show(lock);
  }

  @Override
  public CompletionStage<Boolean> evict(String lock, long token) {
    return memory.evict(lock, token);
  }

  @Override
  public CompletionStage<Boolean> setKind(String lock, Kind kind) {
    return memory.setKind(lock, kind);
  }

  @Override
  public CompletionStage<CounterAnswer> apply(CounterRequest request) {
    for (String name : request.operations().keySet()) {
      if (view(name).isPresent()) {
        return CompletableFuture.failedFuture(NameInUseException.byLock(name));
      }
    }
    return counters.apply(request);
  }

  @Override
  public CompletionStage<Optional<CounterView>> read(String counter) {
    return counters.read(counter);
  }

  @Override
  public CompletionStage<List<LedgerEntry>> history(String counter, int limit) {
    return counters.history(counter, limit);
  }

  @Override
  public CompletionStage<List<CounterView>> list(String after, int limit) {
    return counters.list(after, limit);
  }

  @Override
  public CompletionStage<Long> prune(String counter, Instant before) {
    return counters.prune(counter, before);
  }

  @Override
  public String describe() {
    return "memory, for tests";
  }

  @Override
  public void close() {
    memory.close();
    counters.close();
  }
}
