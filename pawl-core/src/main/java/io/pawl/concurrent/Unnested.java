package io.pawl.concurrent;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Runs what a thread brings about while it is at something of the same sort after that, not within
 * it: on a store that answers at once one would nest in another until the thread has no stack left.
 * Workers go on with what is left, since readers that come again and again would keep the thread
 * for ever.
 */
public final class Unnested {

  /** How much a thread does at most, of what the first brings about. */
  private static final int MOST_DONE = 100;

  /** What this thread is to do next, while it is at something. */
  private static final ThreadLocal<@Nullable Queue<Task>> undone = new ThreadLocal<>();

  private Unnested() {}

  private record Task(Executor workers, Runnable work) {

    void runSoon() {
      workers.execute(() -> Unnested.run(this));
    }
  }

  /**
   * @param workers what goes on with it where this thread has done enough
   */
  public static void run(Executor workers, Runnable work) {
    run(new Task(workers, work));
  }

  private static void run(Task task) {
    Queue<Task> outer = undone.get();
    if (outer != null) {
      outer.add(task);
      return;
    }
    Queue<Task> tasks = new ArrayDeque<>(1);
    tasks.add(task);
    undone.set(tasks);
    try {
      for (int done = 0; done < MOST_DONE && !tasks.isEmpty(); done++) {
        tasks.remove().work.run();
      }
    } finally {
      undone.remove();
      tasks.forEach(Task::runSoon);
    }
  }
}
