package io.pawl.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.pawl.etcd.gateway.Endpoint;
import io.pawl.etcd.gateway.Gateway;
import io.pawl.etcd.gateway.Target;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * A request may throw before it is sent: a deep stack ends, or memory does. Whoever comes later
 * asks once more, and waits for nothing that will never come.
 */
class RequestsThatThrowTest {

  /** Its deadline overflows, in the call itself. */
  private static final Duration ENDLESS = Duration.ofSeconds(Long.MAX_VALUE);

  private final Gateway gateway =
      new Gateway(
          new Target(
              "etcd://nowhere",
              List.of(new Endpoint("localhost", 1)),
              null,
              true,
              null,
              null,
              ENDLESS));
  private final Keys keys = new Keys("pawl");

  @AfterEach
  void close() {
    gateway.close();
  }

  private static void assertThatTheSecondIsAnswered(Supplier<CompletableFuture<?>> request) {
    Throwable first = catchThrowable(request::get);

    assertThat(request.get()).as("after %s", first).isCompletedExceptionally();
  }

  @Test
  void aSharedLeaseIsAskedForAgain() {
    SharedLease lease = new SharedLease(gateway, keys, 60, Duration.ofSeconds(5).toNanos());

    assertThatTheSecondIsAnswered(() -> lease.fresh(1_000));
    assertThatTheSecondIsAnswered(lease::check);
  }

  @Test
  void aPassingLeaseIsAskedForAgain() {
    PassingLease lease = new PassingLease(gateway, 60);

    assertThatTheSecondIsAnswered(lease::current);
  }

  @Test
  void aPassIsAskedForAgain() {
    Passes passes = new Passes(gateway, keys);

    assertThatTheSecondIsAnswered(() -> passes.on(1));
  }
}
