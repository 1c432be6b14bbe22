package io.pawl.spring.boot;

import io.pawl.Pawl;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.SmartLifecycle;
import org.springframework.scheduling.concurrent.ExecutorConfigurationSupport;

/**
 * Closes the client when the application stops: after web servers, listeners and schedulers, which
 * use locks, and before pools, which locks use. Waits for holders for {@code pawl.shutdown-grace}.
 * Makes none: a lazy application that never locks never opens its store.
 */
final class PawlLifecycle implements SmartLifecycle {

  /** Behind that of executors and schedulers, before 0, at which connection factories stop. */
  static final int PHASE = ExecutorConfigurationSupport.DEFAULT_PHASE - 4096;

  private final ConfigurableListableBeanFactory beans;
  private volatile boolean running;
  private volatile boolean closed;

  PawlLifecycle(ConfigurableListableBeanFactory beans) {
    this.beans = beans;
  }

  /**
   * @throws IllegalStateException after a stop
   */
  @Override
  public void start() {
    if (closed) {
      throw new IllegalStateException("a client of Pawl that was closed is not opened again");
    }
    running = true;
  }

  @Override
  public void stop() {
    running = false;
    closed = true;
    for (String name : beans.getBeanNamesForType(Pawl.class, false, false)) {
      if (beans.containsSingleton(name)) {
        beans.getBean(name, Pawl.class).close();
      }
    }
  }

  @Override
  public boolean isRunning() {
    return running;
  }

  /** A context that tests have put aside goes on later. */
  @Override
  public boolean isPauseable() {
    return false;
  }

  @Override
  public int getPhase() {
    return PHASE;
  }
}
