package io.pawl.micrometer;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.pawl.Pawl;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/**
 * What a client counts of its store and counters ({@link Pawl#figures}), as counters named {@code
 * pawl.store.} and the figure's name, and the age of its {@linkplain Pawl#oldestRenewal oldest
 * renewal}. Thread-safe. No round trips.
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
    TimeGauge.builder("pawl.lock.renewal.age", pawl, TimeUnit.NANOSECONDS, StoreMeters::ageNanos)
        .description("Time since the renewal of the lease of which the largest part has passed")
        .tags(tags)
        .register(registry);
    Gauge.builder("pawl.lock.renewal.share", pawl, StoreMeters::share)
        .description("The part of that lease that has passed: above 1/3 it is late, at 1 lost")
        .tags(tags)
        .register(registry);
  }

  private static double ageNanos(Pawl pawl) {
    return pawl.oldestRenewal().map(oldest -> (double) oldest.age().toNanos()).orElse(0.0);
  }

  private static double share(Pawl pawl) {
    return pawl.oldestRenewal().map(Pawl.Renewal::share).orElse(0.0);
  }
}
