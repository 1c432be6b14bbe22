package io.pawl.redisson;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.DistributedSemaphore;
import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.error.LockKindException;
import io.pawl.memory.MemoryStore;
import io.pawl.options.LockOptions;
import io.pawl.spi.Inspectable;
import io.pawl.spi.LockStore;
import java.lang.reflect.Proxy;
import java.util.Optional;
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
  void aNumberThatIsTheOldOneAgainWhenItIsAskedForIsFollowed() throws Exception {
    source.trySet(3);

    Optional<Lease> taken =
        source.take(
            LockOptions.defaults(),
            1,
            semaphore -> {
              if (requests.incrementAndGet() > 1) {
                return semaphore.tryAcquire(1);
              }
              DistributedSemaphore larger = elsewhere.semaphore("permits", 3).changeCapacity(5);
              try {
                return semaphore.tryAcquire(1);
              } finally {
                larger.changeCapacity(3);
              }
            });

    assertThat(taken).isPresent();
    taken.get().close();
  }

  @Test
  void howManyAreFreeIsToldThoughOthersChangeTheNumberAtTheSameMoment() throws Exception {
    source.trySet(3);
    Lease held = pawl.semaphore("permits", 3).acquire(1);
    LockStore changing =
        (LockStore)
            Proxy.newProxyInstance(
                LockStore.class.getClassLoader(),
                new Class<?>[] {LockStore.class, Inspectable.class},
                (proxy, method, arguments) -> {
                  Object answer = method.invoke(store, arguments);
                  if (method.getName().equals("show")) {
                    int now = pawl.inspect("permits").capacity();
                    elsewhere.semaphore("permits", now).changeCapacity(now + 1);
                  }
                  return answer;
                });

    try (Pawl client = Pawl.over(changing)) {
      PermitSource looks = new PermitSource(client, "permits", LockOptions.defaults());
      assertThat(looks.available()).isEqualTo(2);
      assertThat(looks.available()).isEqualTo(3);
    }
    held.close();
  }

  @Test
  void aNumberThatNeverStandsStillIsToldInTheEnd() {
    source.trySet(3);

    assertThatThrownBy(() -> takes(Integer.MAX_VALUE)).isInstanceOf(LockKindException.class);

    assertThat(requests).hasValue(17);
  }
}
