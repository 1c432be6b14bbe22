package io.pawl.micrometer;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.util.Collections;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/**
 * What the gauges of one group read. A registry has one gauge of a name and tags, and leaves out a
 * second one: clients that share both add up, as their counters do.
 */
record SharedCounts(LongAdder waiters, LongAdder held) {

  private static final Map<MeterRegistry, Map<Tags, SharedCounts>> known =
      Collections.synchronizedMap(new WeakHashMap<>());

  static SharedCounts of(MeterRegistry registry, Tags tags) {
    return known
        .computeIfAbsent(registry, unknown -> new ConcurrentHashMap<>())
        .computeIfAbsent(tags, unknown -> new SharedCounts(new LongAdder(), new LongAdder()));
  }
}
