package io.pawl.micrometer;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.pawl.Pawl;
import java.util.Objects;

/**
 * What a client counts of its store and counters ({@link Pawl#figures}), as counters named {@code
 * pawl.store.} and the figure's name. Thread-safe. No round trips.
 */
public final class StoreMeters implements MeterBinder {

  private final Pawl pawl;
  private final Tags tags;

  public StoreMeters(Pawl pawl) {
    this(pawl, Tags.empty());
  }

  /**
   * @param tags of all meters: they tell one client of a process from another
   */
  public StoreMeters(Pawl pawl, Iterable<Tag> tags) {
    this.pawl = Objects.requireNonNull(pawl, "pawl");
    this.tags = Tags.of(tags);
  }

  @Override
  public void bindTo(MeterRegistry registry) {
    for (String figure : pawl.figures().keySet()) {
      FunctionCounter.builder(
              "pawl.store." + figure, pawl, client -> client.figures().getOrDefault(figure, 0L))
          .tags(tags)
          .register(registry);
    }
  }
}
