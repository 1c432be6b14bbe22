package io.pawl;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.SimulatedProcess.Context;
import io.pawl.concurrent.Workers;
import io.pawl.engine.Engine;
import io.pawl.options.PawlOptions;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.Executor;

/** A client of a {@link ScriptedStore}, whose time passes when the test says so. */
final class ScriptedClient {

  private final EventQueue queue = new EventQueue(new Random(1));
  private final SimulatedProcess process = new SimulatedProcess(queue);
  private final ScriptedStore store = new ScriptedStore();
  private final Engine engine;

  /** Called before each task is handed over to another thread. */
  Runnable handingOver = () -> {};

  ScriptedClient(PawlOptions options) {
    this(options, Runnable::run);
  }

  /**
   * @param callbacks runs users' callbacks
   */
  ScriptedClient(PawlOptions options, Executor callbacks) {
    engine =
        new Engine(
            store,
            options,
            new SimulatedTime(queue, process, 0, 1),
            Workers.on(this::handOver, callbacks),
            new Random(2),
            "client");
  }

  private void handOver(Runnable task) {
    handingOver.run();
    process.run(0, Context.WORKER, task);
  }

  ScriptedStore store() {
    return store;
  }

  Engine engine() {
    return engine;
  }

  /** How much has happened. */
  long executed() {
    return queue.executed();
  }

  /** Time passes, and nothing that is due happens before it has. */
  void freeze(Duration length) {
    process.pause(length.toNanos());
    pass(length.minusNanos(1));
  }

  /** Everything that is due by then happens. */
  void pass(Duration length) {
    long until = queue.now() + length.toNanos();
    while (queue.step(until)) {
      assertThat(queue.executed()).isLessThan(10_000);
    }
  }
}
