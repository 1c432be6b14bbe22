package io.pawl.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pawl.Lease;
import io.pawl.Pawl;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StoreMetersTest {

  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

  private double count(String figure) {
    return registry.get("pawl.store." + figure).functionCounter().count();
  }

  @Test
  void eachFigureIsACounterThatFollowsIt(@TempDir Path directory) throws Exception {
    try (Pawl pawl = Pawl.connect("sqlite:" + directory.resolve("locks"))) {
      new StoreMeters(pawl).bindTo(registry);
      for (String figure : pawl.figures().keySet()) {
        assertThat(count(figure)).as(figure).isNotNegative();
      }
      double before = count("locks.requests");

      pawl.lock("orders:42").acquire().close();
      pawl.counter("stock").tryTake(1);

      assertThat(count("locks.requests")).isGreaterThan(before);
      assertThat(count("counters.refused")).isEqualTo(1);
    }
  }

  @Test
  void theAgeOfTheOldestRenewalIsThatOfAHeldLease() throws Exception {
    try (Pawl pawl = Pawl.connect("memory:")) {
      new StoreMeters(pawl).bindTo(registry);
      assertThat(gauge("age")).isZero();
      assertThat(gauge("share")).isZero();
      try (Lease lease = pawl.lock("orders:42").acquire()) {
        assertThat(gauge("age")).isPositive().isLessThan(30);
        assertThat(gauge("share")).isPositive().isLessThan(1);
      }
      assertThat(gauge("share")).isZero();
    }
  }

  private double gauge(String what) {
    return registry.get("pawl.lock.renewal." + what).gauge().value();
  }
}
