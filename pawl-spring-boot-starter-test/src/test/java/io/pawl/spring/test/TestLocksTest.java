package io.pawl.spring.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.error.LeaseLostException;
import io.pawl.error.NameInUseException;
import io.pawl.options.LockOptions;
import io.pawl.spring.Leases;
import io.pawl.spring.LockNotAcquiredException;
import io.pawl.spring.Locked;
import io.pawl.spring.boot.LockedAutoConfiguration;
import io.pawl.spring.boot.PawlActuatorAutoConfiguration;
import io.pawl.spring.boot.PawlAutoConfiguration;
import io.pawl.spring.boot.PawlMetricsAutoConfiguration;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

class TestLocksTest {

  private final ApplicationContextRunner application =
      new ApplicationContextRunner()
          .withConfiguration(
              AutoConfigurations.of(
                  PawlTestAutoConfiguration.class,
                  PawlAutoConfiguration.class,
                  LockedAutoConfiguration.class,
                  PawlActuatorAutoConfiguration.class,
                  PawlMetricsAutoConfiguration.class)) // none of which has its libraries here
          .withPropertyValues("pawl.url=redis://127.0.0.1:1");

  static class Shop {
    @Locked("orders")
    public void ship(Runnable body) {
      body.run();
    }
  }

  /** Each request stands in the store's queue. */
  private static LockOptions strict() {
    return LockOptions.defaults().strictOrder();
  }

  @Test
  void locksAreInMemoryWhateverTheUrlSays() {
    application.run(
        context -> {
          TestLocks locks = context.getBean(TestLocks.class);
          Pawl pawl = context.getBean(Pawl.class);
          Lease lease = pawl.lock("orders").acquire();
          assertThat(locks.isHeld("orders")).isTrue();

          CompletableFuture<Lease> waiter = pawl.lock("orders", strict()).acquireAsync();
          await().until(() -> locks.waiters("orders") == 1);
          lease.close();
          waiter.get(1, TimeUnit.MINUTES).close();

          assertThat(locks.isHeld("orders")).isFalse();
          assertThat(pawl.counter("stock").add(3).value()).isEqualTo(3);
        });
  }

  /** Of a client that the application made itself they could lose nothing. */
  @Test
  void anApplicationWithAClientOfItsOwnHasNoLocksForTests() {
    application
        .withBean(Pawl.class, () -> Pawl.connect("memory:"))
        .run(
            context ->
                assertThat(context).hasSingleBean(Pawl.class).doesNotHaveBean(TestLocks.class));
  }

  @Test
  void aLeaseIsLostInTheMiddleOfAMethodAndTheMethodHearsOfItAtOnce() {
    application
        .withBean(Shop.class)
        .run(
            context -> {
              TestLocks locks = context.getBean(TestLocks.class);
              boolean[] valid = {true};
              assertThatThrownBy(
                      () ->
                          context
                              .getBean(Shop.class)
                              .ship(
                                  () -> {
                                    assertThat(locks.lose("orders")).isTrue();
                                    valid[0] = Leases.current().isValid();
                                  }))
                  .isInstanceOf(LeaseLostException.class);
              assertThat(valid[0]).isFalse();
              assertThat(locks.isHeld("orders")).isFalse();
              assertThat(locks.lose("orders")).isFalse();
              context.getBean(Shop.class).ship(() -> {});
            });
  }

  @Test
  void aWaiterGetsALockThatItsHolderHasLost() {
    application.run(
        context -> {
          Pawl pawl = context.getBean(Pawl.class);
          TestLocks locks = context.getBean(TestLocks.class);
          CompletableFuture<Void> lost = new CompletableFuture<>();
          Lease lease = pawl.lock("orders").acquire();
          lease.onLost(() -> lost.complete(null));
          CompletableFuture<Lease> waiter = pawl.lock("orders").acquireAsync();

          locks.lose("orders");

          lost.get(1, TimeUnit.MINUTES);
          try (Lease next = waiter.get(1, TimeUnit.MINUTES)) {
            assertThat(next.token()).isGreaterThan(lease.token());
          }
        });
  }

  @Test
  void aLockMayBeOccupiedAsByAnotherMachine() {
    application
        .withBean(Shop.class)
        .withPropertyValues("pawl.locked.wait-at-most=0s")
        .run(
            context -> {
              Shop shop = context.getBean(Shop.class);
              TestLocks locks = context.getBean(TestLocks.class);
              try (Lease other = locks.occupy("orders")) {
                assertThat(other.isValid()).isTrue();
                assertThatThrownBy(() -> shop.ship(() -> {}))
                    .isInstanceOf(LockNotAcquiredException.class);
                assertThatThrownBy(() -> locks.occupy("orders"))
                    .isInstanceOf(IllegalStateException.class);
              }
              shop.ship(() -> {});
            });
  }

  @Test
  void aResetLeavesNothingOfATestButItsTokens() {
    application.run(
        context -> {
          Pawl pawl = context.getBean(Pawl.class);
          TestLocks locks = context.getBean(TestLocks.class);
          long token = locks.occupy("orders").token();
          pawl.job("nightly").minHold(Duration.ofHours(1)).run(lease -> {});
          pawl.counter("stock").add(3);

          locks.reset();

          assertThat(locks.isHeld("orders") || locks.isHeld("nightly")).isFalse();
          assertThat(pawl.counter("stock").get()).isZero();
          assertThat(pawl.job("nightly").run(lease -> {})).isTrue();
          try (Lease next = pawl.lock("orders").acquire()) {
            assertThat(next.token()).isGreaterThan(token);
          }
        });
  }

  /** As on every store. */
  @Test
  void aCounterAndALockShareNoName() {
    application.run(
        context -> {
          Pawl pawl = context.getBean(Pawl.class);
          pawl.counter("stock").add(3);
          assertThatThrownBy(() -> pawl.lock("stock").tryAcquire())
              .isInstanceOf(NameInUseException.class);
          context.getBean(TestLocks.class).occupy("orders");
          assertThatThrownBy(() -> pawl.counter("orders").add(3))
              .isInstanceOf(NameInUseException.class);
        });
  }

  @Test
  void testsMayHaveTheRealStoreInstead() {
    application
        .withPropertyValues("pawl.test.memory=false", "pawl.url=memory:real")
        .run(
            context -> {
              assertThat(context).doesNotHaveBean(TestLocks.class);
              assertThat(context.getBean(Pawl.class).toString()).contains("memory:real");
            });
  }
}
