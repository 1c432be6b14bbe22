package io.pawl;

import static io.pawl.ScriptedStore.held;
import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.SimulatedProcess.Context;
import io.pawl.concurrent.Time;
import io.pawl.concurrent.Workers;
import io.pawl.engine.Engine;
import io.pawl.options.LockOptions;
import io.pawl.options.PawlOptions;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A thread has one permit to go on: a lock that it waits for may use up that of its grant. */
class LostWakeUpTest {

  private final EventQueue queue = new EventQueue(new Random(1));
  private final SimulatedProcess process = new SimulatedProcess(queue);
  private final ScriptedStore store = new ScriptedStore();
  private final SimulatedTime time = new SimulatedTime(queue, process, 0, 1);

  /** Answers, once, between a waiter's look at its outcome and its sleep. */
  private final class AnswersMeanwhile implements Time {

    private boolean answered;

    @Override
    public long nanos() {
      if (!answered && looksAtTheStore()) {
        answered = true;
        answer();
        LockSupport.parkNanos(1); // takes the permit
      }
      return time.nanos();
    }

    private void answer() {
      Thread network = new Thread(() -> store.attempt(0).answer().complete(held(7)));
      network.start();
      try {
        network.join();
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    }

    private static boolean looksAtTheStore() {
      return StackWalker.getInstance()
          .walk(frames -> frames.anyMatch(frame -> frame.getMethodName().equals("lookAtTheStore")));
    }

    @Override
    public Pending after(long delayNanos, Runnable task) {
      return time.after(delayNanos, task);
    }
  }

  @Test
  @Timeout(20)
  void aGrantThatComesWhileItsWaiterLooksAtTheStoreIsNotSleptOver() throws Exception {
    Engine engine =
        new Engine(
            store,
            PawlOptions.defaults(),
            new AnswersMeanwhile(),
            Workers.on(task -> process.run(0, Context.WORKER, task), Runnable::run),
            new Random(2),
            "client");
    DistributedLock lock = new DistributedLock(engine, "lock", LockOptions.defaults());

    assertThat(lock.tryAcquire(Duration.ofHours(1))).map(Lease::token).contains(7L);
  }
}
