package io.pawl.engine;

import io.pawl.concurrent.Time;
import io.pawl.concurrent.Workers;
import io.pawl.options.PawlOptions;
import io.pawl.spi.LockStore;
import java.util.Random;

/** Engines for tests, which do all their work on the thread that asks for it. */
public final class Engines {

  private Engines() {}

  /** With the usual options. */
  public static Engine over(LockStore store, Time time) {
    return new Engine(
        store,
        PawlOptions.defaults(),
        time,
        Workers.on(Runnable::run, Runnable::run),
        new Random(1),
        "client");
  }
}
