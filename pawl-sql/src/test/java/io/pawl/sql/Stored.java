package io.pawl.sql;

import io.pawl.spi.Inspectable.ClaimView;
import io.pawl.spi.Inspectable.LockView;
import java.time.Duration;
import java.util.List;
import org.awaitility.Awaitility;

/** What a store says of a lock. */
final class Stored {

  private Stored() {}

  static LockView show(SqlStore store, String lock) {
    return store.show(lock).toCompletableFuture().join().orElseThrow();
  }

  static List<ClaimView> waiters(SqlStore store, String lock) {
    return store.show(lock).toCompletableFuture().join().map(LockView::waiters).orElse(List.of());
  }

  /** Returns once {@code n} claims stand in line. */
  static void awaitWaiters(SqlStore store, String lock, int n) {
    Awaitility.await()
        .atMost(Duration.ofSeconds(60))
        .pollInterval(Duration.ofMillis(5))
        .until(() -> waiters(store, lock).size() == n);
  }
}
