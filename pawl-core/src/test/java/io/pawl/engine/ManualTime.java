package io.pawl.engine;

import io.pawl.concurrent.Time;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Time that passes when the test says so, on its thread. */
final class ManualTime implements Time {

  private final List<Task> tasks = new ArrayList<>();
  private long now;

  private record Task(long dueAt, Runnable task) {}

  @Override
  public long nanos() {
    return now;
  }

  @Override
  public Pending after(long delayNanos, Runnable task) {
    Task made = new Task(now + delayNanos, task);
    tasks.add(made);
    return () -> tasks.remove(made);
  }

  /** Nothing that is due happens, as if the threads that it is for had no turn. */
  void passUnnoticed(Duration length) {
    now += length.toNanos();
  }

  /** What is due by then happens. */
  void pass(Duration length) {
    now += length.toNanos();
    for (Task each : List.copyOf(tasks)) {
      if (each.dueAt - now <= 0 && tasks.remove(each)) {
        each.task.run();
      }
    }
  }
}
