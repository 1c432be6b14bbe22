package io.pawl.quorum;

import io.pawl.concurrent.Time;
import java.util.PriorityQueue;

/** Virtual time, in which everything happens one thing after another. */
final class World {

  /** Some day in 2026, so that tokens that follow clocks look like those of real servers. */
  private static final long EPOCH_MILLIS = 1_790_000_000_000L;

  private record Event(long at, long order, Runnable task) implements Comparable<Event> {
    @Override
    public int compareTo(Event other) {
      int byTime = Long.compare(at, other.at);
      return byTime != 0 ? byTime : Long.compare(order, other.order);
    }
  }

  private final PriorityQueue<Event> events = new PriorityQueue<>();
  private long now = 1_000_000_000L;
  private long order;

  /** What clients have in place of the system's time. */
  Time time() {
    return new Time() {
      @Override
      public long nanos() {
        return now;
      }

      @Override
      public long wallMillis() {
        return epochMicros() / 1_000;
      }

      @Override
      public Pending after(long delayNanos, Runnable task) {
        Event event = World.this.after(delayNanos, task);
        return () -> events.remove(event);
      }
    };
  }

  long now() {
    return now;
  }

  long epochMicros() {
    return EPOCH_MILLIS * 1_000 + now / 1_000;
  }

  private Event after(long nanos, Runnable task) {
    Event event = new Event(now + Math.max(0, nanos), order++, task);
    events.add(event);
    return event;
  }

  void later(long nanos, Runnable task) {
    after(nanos, task);
  }

  /** Time goes on, and what is due meanwhile happens late. */
  void standStill(long nanos) {
    now += nanos;
  }

  /** Lets time go on. */
  void run(long nanos) {
    long end = now + nanos;
    while (!events.isEmpty() && events.peek().at <= end) {
      Event next = events.remove();
      now = Math.max(now, next.at);
      next.task.run();
    }
    now = end;
  }
}
