package io.pawl.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.pawl.Pawl;
import io.pawl.error.NameInUseException;
import io.pawl.error.StoreException;
import io.pawl.options.LockObserver;
import io.pawl.options.PawlOptions;
import io.pawl.spi.LockStore;
import io.pawl.spi.StoreUrl;
import io.pawl.spi.Stores;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Somebody asks for a lock by the name of a counter. */
class CounterNameTest {

  @TempDir Path folder;

  @Test
  void theEndOfAClaimThatWasRefusedForItsNameIsNoFailure() {
    List<String> failures = new CopyOnWriteArrayList<>();
    LockObserver observer =
        new LockObserver() {
          @Override
          public void storeFailed(String lock, StoreException failure) {
            failures.add(lock);
          }
        };
    try (LockStore store = Stores.open(StoreUrl.parse("sqlite:" + folder.resolve("locks.db")))) {
      try (Pawl pawl = Pawl.over(store, PawlOptions.defaults().observer(observer))) {
        pawl.counter("stock").add(5);
        assertThatThrownBy(() -> pawl.lock("stock").acquire())
            .isInstanceOf(NameInUseException.class);
        assertThat(pawl.evict("stock", 1)).isFalse();
      }
      assertThat(store.withdraw(Claims.claim("stock")).toCompletableFuture())
          .succeedsWithin(Duration.ofSeconds(10));
    }
    await().until(() -> !failures.isEmpty());
    assertThat(failures).as("of the request alone").hasSize(1);
  }
}
