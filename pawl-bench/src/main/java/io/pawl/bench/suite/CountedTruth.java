package io.pawl.bench.suite;

import io.pawl.spi.Bell;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.CounterAnswer;
import io.pawl.spi.CounterRequest;
import io.pawl.spi.CounterStore;
import io.pawl.spi.CounterView;
import io.pawl.spi.LedgerEntry;
import io.pawl.spi.LockStore;
import io.pawl.spi.Standing;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.LongAdder;

/** A store that counts what it is asked about one counter: changes and looks alike. */
final class CountedTruth implements LockStore, CounterStore {

  private final LockStore behind;
  private final CounterStore counters;
  private final String counter;
  private final LongAdder asked = new LongAdder();

  CountedTruth(LockStore behind, String counter) {
    this.behind = behind;
    this.counters = (CounterStore) behind;
    this.counter = counter;
  }

  long asked() {
    return asked.sum();
  }

  private void count(boolean ours) {
    if (ours) {
      asked.increment();
    }
  }

  @Override
  public CompletionStage<CounterAnswer> apply(CounterRequest request) {
    count(request.operations().containsKey(counter));
    return counters.apply(request);
  }

  @Override
  public CompletionStage<Optional<CounterView>> read(String name) {
    count(name.equals(counter));
    return counters.read(name);
  }

  @Override
  public CompletionStage<List<LedgerEntry>> history(String name, int limit) {
    count(name.equals(counter));
    return counters.history(name, limit);
  }

  @Override
  public CompletionStage<List<CounterView>> list(String after, int limit) {
    return counters.list(after, limit);
  }

  @Override
  public CompletionStage<Long> prune(String name, Instant before) {
    count(name.equals(counter));
    return counters.prune(name, before);
  }

  @Override
  public CompletionStage<Standing> attempt(Claim claim, Bell bell) {
    return behind.attempt(claim, bell);
  }

  @Override
  public CompletionStage<Map<ClaimId, Standing>> renew(Collection<Claim> claims) {
    return behind.renew(claims);
  }

  @Override
  public CompletionStage<Void> withdraw(Claim claim) {
    return behind.withdraw(claim);
  }

  @Override
  public boolean blocks() {
    return behind.blocks();
  }

  @Override
  public String describe() {
    return behind.describe();
  }

  @Override
  public void close() {
    behind.close();
  }
}
