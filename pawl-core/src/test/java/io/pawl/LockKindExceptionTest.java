package io.pawl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.error.LockKindException;
import io.pawl.spi.Inspectable;
import io.pawl.spi.Kind;
import io.pawl.spi.LockStore;
import io.pawl.spi.StoreUrl;
import io.pawl.spi.Stores;
import org.junit.jupiter.api.Test;

/** Whoever does what the message advises gets what he asked for. */
class LockKindExceptionTest {

  private static final String URL = "memory:kinds";

  @Test
  void theAdviceOfTheMessageCanBeFollowed() throws Exception {
    try (Pawl pawl = Pawl.connect(URL)) {
      DistributedLock lock = pawl.lock("name");
      DistributedSemaphore semaphore = pawl.semaphore("name", 2);
      lock.acquire().close();

      assertThatThrownBy(() -> semaphore.tryAcquire(1))
          .isInstanceOf(LockKindException.class)
          .hasMessageContaining("make it one with changeCapacity");
      semaphore.changeCapacity(2).tryAcquire(1).orElseThrow().close();

      assertThatThrownBy(lock::tryAcquire)
          .isInstanceOf(LockKindException.class)
          .hasMessageContaining("Stores.open");
      try (LockStore store = Stores.open(StoreUrl.parse(URL))) {
        ((Inspectable) store).setKind("name", Kind.LOCK).toCompletableFuture().join();
      }
      assertThat(lock.tryAcquire()).isPresent();
    }
  }
}
