package io.pawl.spring;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** What has become of the runs of one job on this machine. Thread-safe. */
final class JobWatch {

  private final AtomicLong goodAt;
  private final Map<Object, Long> runs = new ConcurrentHashMap<>();

  /** When the last run here began, if one has. */
  private volatile @Nullable Long begunAt;

  /**
   * @param now of a monotonic clock, as everywhere here, in nanoseconds
   */
  JobWatch(long now) {
    goodAt = new AtomicLong(now);
  }

  /** Returns the run, for {@link #ended}. */
  Object begun(long now) {
    Object run = new Object();
    runs.put(run, now);
    begunAt = now;
    return run;
  }

  void ended(Object run) {
    runs.remove(run);
  }

  /** A run has ended well. */
  void isGood(long now) {
    goodAt.set(now);
  }

  /**
   * A start was skipped: the job ran elsewhere, unless a run goes on here, or began here so lately
   * that it still keeps others away, however it ended.
   */
  void skipped(long now, Duration minHold) {
    Long begun = begunAt;
    boolean keptByOwn = begun != null && now - begun < minHold.toNanos();
    if (runs.isEmpty() && !keptByOwn) {
      goodAt.set(now);
    }
  }

  JobState state(String job, LockedMethod.Job times, long now) {
    Duration quietFor = Duration.ofNanos(now - goodAt.get());
    Duration runningFor =
        runs.values().stream()
            .map(since -> Duration.ofNanos(now - since))
            .max(Duration::compareTo)
            .orElse(null);
    boolean overdue =
        isLonger(quietFor, times.overdueAfter())
            || runningFor != null && isLonger(runningFor, times.maxRun());
    return new JobState(job, quietFor, runningFor, overdue);
  }

  private static boolean isLonger(Duration time, @Nullable Duration longest) {
    return longest != null && time.compareTo(longest) > 0;
  }
}
