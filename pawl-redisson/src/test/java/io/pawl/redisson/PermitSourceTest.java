package io.pawl.redisson;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.Pawl;
import io.pawl.error.LockKindException;
import io.pawl.memory.MemoryStore;
import io.pawl.options.LockOptions;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class PermitSourceTest {

  private final MemoryStore store = new MemoryStore();
  private final Pawl pawl = Pawl.over(store);
  private final Pawl elsewhere = Pawl.over(store);
  private final PermitSource source = new PermitSource(pawl, "permits", LockOptions.defaults());
  private final AtomicInteger requests = new AtomicInteger();

  @AfterEach
  void close() {
    pawl.close();
    elsewhere.close();
  }

  /** Returns whether it was granted, where others change the number before each of its requests. */
  private boolean takes(int changes) throws InterruptedException {
    return source
        .take(
            LockOptions.defaults(),
            1,
            semaphore -> {
              int request = requests.incrementAndGet();
              if (request <= changes) {
                elsewhere.semaphore("permits", 2 + request).changeCapacity(3 + request);
              }
              return semaphore.tryAcquire(1);
            })
        .isPresent();
  }

  @Test
  void aNumberThatOthersChangeAgainAndAgainIsFollowed() throws Exception {
    source.trySet(3);

    assertThat(takes(5)).isTrue();

    assertThat(requests).hasValue(6);
  }

  @Test
  void aNumberThatNeverStandsStillIsToldInTheEnd() {
    source.trySet(3);

    assertThatThrownBy(() -> takes(Integer.MAX_VALUE)).isInstanceOf(LockKindException.class);

    assertThat(requests).hasValue(17);
  }
}
