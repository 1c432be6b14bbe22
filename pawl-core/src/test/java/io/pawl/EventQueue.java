package io.pawl;

import io.pawl.engine.Event;
import java.util.PriorityQueue;
import java.util.Random;

/**
 * The time of one simulated world: it stands still while an event runs and jumps to the next one.
 * Events of one instant run in seeded random order.
 */
final class EventQueue {

  /** Something that is going to happen. */
  static final class Event implements Comparable<Event> {
    private final long at;
    private final int tie;
    private final long number;
    private final Runnable task;
    private boolean cancelled;

    private Event(long at, int tie, long number, Runnable task) {
      this.at = at;
      this.tie = tie;
      this.number = number;
      this.task = task;
    }

    void cancel() {
      cancelled = true;
    }

    @Override
    public int compareTo(Event other) {
      int byTime = Long.compare(at, other.at);
      int byTie = byTime != 0 ? byTime : Integer.compare(tie, other.tie);
      return byTie != 0 ? byTie : Long.compare(number, other.number);
    }
  }

  private final PriorityQueue<Event> events = new PriorityQueue<>();
  private final Random random;
  private long now;
  private long scheduled;
  private long executed;
  private long traceHash = 17;

  EventQueue(Random random) {
    this.random = random;
  }

  long now() {
    return now;
  }

  /** How many events have run. */
  long executed() {
    return executed;
  }

  /** A digest of everything that has happened so far. */
  long traceHash() {
    return traceHash;
  }

  Event at(long time, Runnable task) {
    Event event = new Event(Math.max(now, time), random.nextInt(), scheduled++, task);
    events.add(event);
    return event;
  }

  Event after(long delayNanos, Runnable task) {
    return at(now + delayNanos, task);
  }

  /** Adds to the digest. */
  void trace(long what) {
    traceHash = 31 * traceHash + what;
  }

  /** Runs the next event no later than {@code until}; false when there is none. */
  boolean step(long until) {
    Event next = events.peek();
    if (next == null || next.at > until) {
      now = Math.max(now, until);
      return false;
    }
    events.remove();
    now = next.at;
    if (!next.cancelled) {
      executed++;
      trace(now);
      trace(next.number);
      next.task.run();
    }
    return true;
  }
}
