package io.pawl.micrometer;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/** The meters of one group of locks. */
final class GroupMeters {

  private final Timer wait;
  private final Timer hold;
  private final Counter granted;
  private final Counter passed;
  private final Counter refused;
  private final Map<LossReason, Counter> lost = new EnumMap<>(LossReason.class);
  private final Counter skipped;
  private final LongAdder waiters;
  private final LongAdder held;

  GroupMeters(MeterRegistry registry, Tags tags) {
    SharedCounts counts = SharedCounts.of(registry, tags);
    waiters = counts.waiters();
    held = counts.held();
    skipped =
        Counter.builder("pawl.job.skipped")
            .description("Runs of scheduled jobs that were left out, as the job was busy")
            .tags(tags)
            .register(registry);
    wait =
        Timer.builder("pawl.lock.wait")
            .description("From a request until it was granted, or ended without the lock")
            .tags(tags)
            .register(registry);
    hold =
        Timer.builder("pawl.lock.hold")
            .description("From the grant of a lease until its release")
            .tags(tags)
            .register(registry);
    granted = acquisitions(registry, tags, "granted");
    passed = acquisitions(registry, tags, "passed");
    refused = acquisitions(registry, tags, "refused");
    for (LossReason reason : LossReason.values()) {
      lost.put(
          reason,
          Counter.builder("pawl.lock.lost")
              .description("Leases that were lost")
              .tags(tags.and("reason", reason.tag()))
              .register(registry));
    }
    gauge(registry, tags, "pawl.lock.waiters", "Requests that wait in a queue", waiters);
    gauge(registry, tags, "pawl.lock.held", "Leases that are held", held);
  }

  private static Counter acquisitions(MeterRegistry registry, Tags tags, String outcome) {
    return Counter.builder("pawl.lock.acquisitions")
        .description("Requests for locks that have ended")
        .tags(tags.and("outcome", outcome))
        .register(registry);
  }

  /** What ends may be told before what begins. */
  private static void gauge(
      MeterRegistry registry, Tags tags, String name, String description, LongAdder count) {
    Gauge.builder(name, count, adder -> Math.max(0, adder.sum()))
        .description(description)
        .tags(tags)
        .strongReference(true)
        .register(registry);
  }

  void acquired(Duration waited, boolean fromOwnThread) {
    held.increment();
    wait.record(waited);
    (fromOwnThread ? passed : granted).increment();
  }

  void notAcquired(Duration waited) {
    wait.record(waited);
    refused.increment();
  }

  void waiting() {
    waiters.increment();
  }

  void waitingEnded() {
    waiters.decrement();
  }

  void skipped() {
    skipped.increment();
  }

  void released(Duration time) {
    held.decrement();
    hold.record(time);
  }

  void lost(LossReason reason) {
    held.decrement();
    Counter losses = lost.get(reason);
    if (losses != null) {
      losses.increment();
    }
  }
}
