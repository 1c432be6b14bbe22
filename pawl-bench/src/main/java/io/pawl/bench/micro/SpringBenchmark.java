package io.pawl.bench.micro;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pawl.DistributedLock;
import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.memory.MemoryStore;
import io.pawl.micrometer.LockMeters;
import io.pawl.options.PawlOptions;
import io.pawl.spring.Locked;
import io.pawl.spring.boot.LockedAutoConfiguration;
import io.pawl.spring.boot.PawlAutoConfiguration;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.core.env.MapPropertySource;

/** What an annotation, and meters, cost beside a call in code, on a store that costs nothing. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class SpringBenchmark {

  /** A bean with one method under a lock of a fixed name, and one under its argument's. */
  public static class Orders {

    @Locked("order")
    public long ship(long id) {
      return id;
    }

    @Locked("order:#{#id}")
    public long shipOne(long id) {
      return id;
    }
  }

  private final AnnotationConfigApplicationContext application = application();
  private final Orders orders = application.getBean(Orders.class);
  private final DistributedLock lock = application.getBean(Pawl.class).lock("order");
  private final Pawl metered =
      Pawl.over(
          new MemoryStore(),
          PawlOptions.defaults().observer(new LockMeters(new SimpleMeterRegistry())));
  private final DistributedLock observed = metered.lock("order");
  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
  private final Timer wait = registry.timer("wait");
  private final Timer hold = registry.timer("hold");
  private final Counter granted = registry.counter("granted");

  private static AnnotationConfigApplicationContext application() {
    AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
    context
        .getEnvironment()
        .getPropertySources()
        .addFirst(new MapPropertySource("bench", Map.of("pawl.url", "memory:")));
    context.register(
        AopAutoConfiguration.class,
        PawlAutoConfiguration.class,
        LockedAutoConfiguration.class,
        Orders.class);
    context.refresh();
    return context;
  }

  @TearDown
  public void close() {
    metered.close();
    application.close();
  }

  @Benchmark
  public long calledInCode() throws InterruptedException {
    return lock.call(Duration.ofSeconds(10), lease -> 42L).orElseThrow();
  }

  @Benchmark
  public long calledByAnnotation() {
    return orders.ship(42);
  }

  @Benchmark
  public long calledByAnnotationWithExpression() {
    return orders.shipOne(42);
  }

  @Benchmark
  public long acquireAndCloseWithMeters() throws InterruptedException {
    try (Lease lease = observed.acquire()) {
      return lease.token();
    }
  }

  /** The floor under the meters of one lease: what Micrometer itself takes. */
  @Benchmark
  public void twoTimersAndACounterAlone() {
    wait.record(1, TimeUnit.MICROSECONDS);
    granted.increment();
    hold.record(1, TimeUnit.MICROSECONDS);
  }

  @Benchmark
  public long acquireAndCloseWithoutMeters() throws InterruptedException {
    try (Lease lease = lock.acquire()) {
      return lease.token();
    }
  }
}
