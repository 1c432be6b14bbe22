package io.pawl.lab.tck;

import io.pawl.memory.MemoryStore;
import io.pawl.spi.CounterAnswer;
import io.pawl.spi.CounterRequest;
import io.pawl.spi.CounterStore;
import io.pawl.spi.CounterView;
import io.pawl.spi.LedgerEntry;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/** As {@link BrokenStore}, with counters. */
class BrokenCounters extends BrokenStore implements CounterStore {

  BrokenCounters(MemoryStore sound) {
    super(sound);
  }

  @Override
  public CompletionStage<CounterAnswer> apply(CounterRequest request) {
    return sound.apply(request);
  }

  @Override
  public CompletionStage<Optional<CounterView>> read(String counter) {
    return sound.read(counter);
  }

  @Override
  public CompletionStage<List<LedgerEntry>> history(String counter, int limit) {
    return sound.history(counter, limit);
  }

  @Override
  public CompletionStage<List<CounterView>> list(String after, int limit) {
    return sound.list(after, limit);
  }

  @Override
  public CompletionStage<Long> prune(String counter, Instant before) {
    return sound.prune(counter, before);
  }
}
