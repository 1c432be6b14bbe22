package io.pawl;

import io.pawl.concurrent.Time;

/** A process' own clock, with an origin and a rate of its own. */
final class SimulatedTime implements Time {

  private final EventQueue queue;
  private final SimulatedProcess process;
  private final long origin;
  private final double rate;

  SimulatedTime(EventQueue queue, SimulatedProcess process, long origin, double rate) {
    this.queue = queue;
    this.process = process;
    this.origin = origin;
    this.rate = rate;
  }

  @Override
  public long nanos() {
    return origin + (long) (queue.now() * rate);
  }

  /** When, in the world's time, this clock will show {@code nanos}. */
  long worldTimeOf(long nanos) {
    return (long) ((nanos - origin) / rate);
  }

  @Override
  public Pending after(long delayNanos, Runnable task) {
    long delay = (long) Math.ceil(delayNanos / rate);
    return process.run(delay, SimulatedProcess.Context.TIMER, task)::cancel;
  }
}
