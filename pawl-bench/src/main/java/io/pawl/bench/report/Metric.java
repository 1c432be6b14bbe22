package io.pawl.bench.report;

import java.util.Locale;

/** What is measured of a side. */
public enum Metric {
  CYCLES("cycles/s", Sum.MEDIAN),
  ITEMS("items/s", Sum.MEDIAN),
  REACHED("truth asked/item", Sum.LARGEST),
  P50("p50 µs", Sum.MEDIAN),
  P99("p99 µs", Sum.MEDIAN),
  MAX("max ms", Sum.LARGEST),
  WRITER_MAX("longest writer wait ms", Sum.LARGEST),
  ALL_MILLIS("all done ms", Sum.MEDIAN),
  ANY_HAND_OFF_P50("hand-off p50 ms", Sum.MEDIAN),
  HAND_OFF_P50("JVM to JVM p50 ms", Sum.MEDIAN),
  HAND_OFF_P99("JVM to JVM p99 ms", Sum.MEDIAN),
  THREAD_SPREAD("threads max/min", Sum.LARGEST),
  JVM_SPREAD("JVMs max/min", Sum.LARGEST),
  CPU_SECONDS("cpu s", Sum.MEDIAN),
  CPU_MICROS("cpu µs/cycle", Sum.MEDIAN),
  STORE_CPU_MICROS("store cpu µs/cycle", Sum.MEDIAN),
  OPERATIONS("store ops/cycle", Sum.MEDIAN),
  WALL_MILLIS("median ms", Sum.MEDIAN),
  OPERATION_NANOS("ns/op", Sum.MEDIAN),
  ERROR_NANOS("± ns", Sum.LARGEST),
  LOST("lost", Sum.LARGEST),
  INVALID("invalid", Sum.LARGEST),
  LEFT("left after close", Sum.LARGEST),
  RENEWAL_AGE("renewed ≤ s ago", Sum.LARGEST),
  LEASES_PER_COMMAND("leases/command/period", Sum.MEDIAN),
  COMMANDS("commands/s", Sum.MEDIAN),
  STATEMENTS("statements/s", Sum.MEDIAN),
  COMMITS("commits/s", Sum.MEDIAN),
  LOG("log kB/s", Sum.MEDIAN),
  CPU_PER_MINUTE("cpu s/min", Sum.MEDIAN),
  HEAP("heap MB", Sum.MEDIAN),
  TAKING_SECONDS("taking s", Sum.MEDIAN),
  FIRST_LEASE("first lease ms", Sum.MEDIAN),
  JARS("jars", Sum.MEDIAN),
  MEGABYTES("jars MB", Sum.MEDIAN),
  TAKES("takes", Sum.MEDIAN),
  TOLD_TAKEN("told taken", Sum.MEDIAN),
  TOLD_REFUSED("told refused", Sum.MEDIAN),
  TOLD_UNCHANGED("told not made", Sum.MEDIAN),
  FOUND_OUT("unknown, found out", Sum.MEDIAN),
  FAULTS("times", Sum.MEDIAN),
  SECONDS("s", Sum.MEDIAN),
  TOLD_PER_SECOND("takes/s", Sum.MEDIAN),
  TAKE_OVER("take-over median ms", Sum.MEDIAN),
  TAKE_OVER_MAX("take-over max ms", Sum.LARGEST),
  NOBODY("nobody locks ms", Sum.LARGEST),
  ONE_CLIENT("one client without ms", Sum.LARGEST),
  FAILED("calls failed", Sum.MEDIAN);

  /** How the forks' figures become one. */
  enum Sum {
    MEDIAN,
    LARGEST
  }

  private final String title;
  private final Sum sum;

  Metric(String title, Sum sum) {
    this.title = title;
    this.sum = sum;
  }

  String title() {
    return title;
  }

  double over(double[] forks) {
    return sum == Sum.MEDIAN ? Numbers.median(forks) : Numbers.largest(forks);
  }

  String key() {
    return name().toLowerCase(Locale.ROOT);
  }
}
