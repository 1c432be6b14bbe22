package io.pawl;

/**
 * One program of a simulated world: what it does can be deferred (SIGSTOP) or cut off for ever
 * (kill -9). Everything that runs inside it goes through {@link #run}.
 */
final class SimulatedProcess {

  /** On whose thread something runs. */
  enum Context {
    USER,
    TIMER,
    WORKER,
    STORE
  }

  private final EventQueue queue;
  private long pausedUntil;
  private boolean crashed;
  private Context context = Context.USER;

  SimulatedProcess(EventQueue queue) {
    this.queue = queue;
  }

  EventQueue.Event run(long delayNanos, Context in, Runnable task) {
    return queue.after(delayNanos, () -> perform(in, task));
  }

  private void perform(Context in, Runnable task) {
    if (crashed) {
      return;
    }
    if (isPaused()) {
      queue.at(pausedUntil, () -> perform(in, task));
      return;
    }
    context = in;
    task.run();
  }

  /** Where the code that runs now runs. */
  Context context() {
    return context;
  }

  void pause(long nanos) {
    pausedUntil = Math.max(pausedUntil, queue.now() + nanos);
  }

  void crash() {
    crashed = true;
  }

  boolean isCrashed() {
    return crashed;
  }

  boolean isPaused() {
    return queue.now() < pausedUntil;
  }

  /** When it last continued, or will. */
  long pausedUntil() {
    return pausedUntil;
  }
}
