package io.pawl.spring;

import io.pawl.Pawl;
import io.pawl.spring.boot.LockedAutoConfiguration;
import io.pawl.spring.boot.PawlAutoConfiguration;
import java.time.Duration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** An application on a store in memory, and a client beside it. */
final class TestClients implements AutoCloseable {

  static final String URL = "memory:annotations";

  private final Pawl other = Pawl.connect(URL);

  static ApplicationContextRunner application() {
    return new ApplicationContextRunner()
        .withConfiguration(
            AutoConfigurations.of(
                AopAutoConfiguration.class,
                PawlAutoConfiguration.class,
                LockedAutoConfiguration.class))
        .withPropertyValues("pawl.url=" + URL, "pawl.shutdown-grace=0s");
  }

  Pawl other() {
    return other;
  }

  /** Whether nobody holds the lock. */
  boolean isFree(String lock) {
    return !other.inspect(lock).isHeld();
  }

  @Override
  public void close() {
    other.close(Duration.ZERO);
  }
}
