package io.pawl.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.error.LeaseLostException;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.core.annotation.AliasFor;

class LockedTest {

  private final TestClients clients = new TestClients();

  @AfterEach
  void close() {
    clients.close();
  }

  @Target(ElementType.METHOD)
  @Retention(RetentionPolicy.RUNTIME)
  @Locked(waitAtMost = "0s")
  @interface OneAtATime {
    @AliasFor(annotation = Locked.class, attribute = "name")
    String value();
  }

  record Order(String id) {}

  static class Shop {

    @Locked("orders")
    public <T> T alone(Supplier<T> body) {
      return body.get();
    }

    @Locked("bills")
    public <T> T billed(Supplier<T> body) {
      return body.get();
    }

    @Locked(name = "orders:#{#order.id}", waitAtMost = "0s")
    public boolean ship(Order order, Supplier<Boolean> body) {
      return body.get();
    }

    @Locked(name = "${shop.name}:#{@currency}")
    public String priced() {
      return Leases.current().lock();
    }

    @Locked(name = "orders", onBusy = OnBusy.SKIP)
    public void skipped(Runnable body) {
      body.run();
    }

    @Locked(name = "orders", onBusy = OnBusy.SKIP)
    public Optional<String> skippedWithResult() {
      return Optional.of("ran");
    }

    @Locked(name = "orders", onBusy = OnBusy.SKIP)
    public OptionalInt skippedWithNumber() {
      return OptionalInt.of(1);
    }

    @Locked(name = "orders", waitAtMost = "10ms")
    public void impatient() {}

    @Locked(name = "orders", shared = true, waitAtMost = "0s")
    public <T> T shared(Supplier<T> body) {
      return body.get();
    }

    @OneAtATime("composed")
    public String composed() {
      return Leases.current().lock();
    }

    @Locked(name = "orders", lease = "150ms")
    public void shortLease(Runnable body) {
      body.run();
    }

    @Locked("orders")
    public void failing() throws java.io.IOException {
      throw new java.io.IOException("of the method");
    }

    public boolean plain() {
      return Leases.find().isEmpty();
    }
  }

  private void with(Consumer<Shop> use) {
    TestClients.application()
        .withBean(Shop.class)
        .withBean("currency", String.class, () -> "EUR")
        .withPropertyValues("shop.name=corner")
        .run(context -> use.accept(context.getBean(Shop.class)));
  }

  @Test
  void aLockedMethodHasItsLockWhileItRunsAndNoLonger() {
    with(
        shop -> {
          assertThat(shop.alone(() -> clients.isFree("orders"))).isFalse();
          assertThat(clients.isFree("orders")).isTrue();
        });
  }

  @Test
  void theLockIsReleasedWhenTheMethodFailsWithItsOwnException() {
    with(
        shop -> {
          assertThatThrownBy(shop::failing).isInstanceOf(java.io.IOException.class);
          assertThat(clients.isFree("orders")).isTrue();
        });
  }

  @Test
  void aMethodThatReturnsNullReturnsNull() {
    with(shop -> assertThat(shop.<String>alone(() -> null)).isNull());
  }

  @Test
  void theNameSeesTheArgumentsOfTheCall() {
    with(
        shop -> {
          boolean othersRun =
              shop.ship(
                  new Order("1"),
                  () ->
                      !clients.isFree("orders:1")
                          && CompletableFuture.supplyAsync(
                                  () -> shop.ship(new Order("2"), () -> true))
                              .join());
          assertThat(othersRun).isTrue();
        });
  }

  @Test
  void theNameSeesPlaceholdersAndBeans() {
    with(shop -> assertThat(shop.priced()).isEqualTo("corner:EUR"));
  }

  @Test
  void anExpressionWithoutAValueIsRefused() {
    with(
        shop ->
            assertThatThrownBy(() -> shop.ship(new Order(null), () -> true))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("order.id"));
  }

  @Test
  void anExpressionThatIsBlankIsRefused() {
    with(
        shop ->
            assertThatThrownBy(() -> shop.ship(new Order(" "), () -> true))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("order.id"));
  }

  @Test
  void aBusyLockEndsTheCallWhenTheWaitIsOver() {
    with(
        shop -> {
          try (Lease held = acquired("orders")) {
            assertThatThrownBy(shop::impatient)
                .isInstanceOfSatisfying(
                    LockNotAcquiredException.class,
                    busy -> assertThat(busy.lock()).isEqualTo("orders"));
          }
          shop.impatient();
        });
  }

  private Lease acquired(String lock) {
    return clients.other().lock(lock).tryAcquire().orElseThrow();
  }

  @Test
  void aCallIsSkippedWhereItIsToBe() {
    with(
        shop -> {
          try (Lease held = acquired("orders")) {
            shop.skipped(
                () -> {
                  throw new AssertionError("ran");
                });
            assertThat(shop.skippedWithResult()).isEmpty();
            assertThat(shop.skippedWithNumber()).isEmpty();
          }
          assertThat(shop.skippedWithResult()).contains("ran");
        });
  }

  @Test
  void anInterruptedWaitLeavesTheThreadInterrupted() {
    with(
        shop -> {
          try (Lease held = acquired("orders")) {
            Thread.currentThread().interrupt();
            assertThatThrownBy(() -> shop.alone(() -> "ran"))
                .isInstanceOf(LockNotAcquiredException.class)
                .hasCauseInstanceOf(InterruptedException.class);
            assertThat(Thread.interrupted()).isTrue();
          }
        });
  }

  @Test
  void aCallUnderTheSameLockJoinsIt() {
    with(
        shop -> {
          long[] tokens =
              shop.alone(
                  () ->
                      new long[] {
                        Leases.current().token(), shop.alone(() -> Leases.current().token())
                      });
          assertThat(tokens[0]).isEqualTo(tokens[1]);
          assertThat(clients.isFree("orders")).isTrue();
        });
  }

  @Test
  void aLockOfAnotherClientIsAnotherLockThoughItHasTheSameName() {
    with(
        shop ->
            TestClients.application()
                .withBean(Shop.class)
                .withBean("currency", String.class, () -> "EUR")
                .withPropertyValues("shop.name=corner", "pawl.url=memory:")
                .run(
                    context -> {
                      Pawl second = context.getBean(Pawl.class);
                      Shop elsewhere = context.getBean(Shop.class);
                      assertThat(
                              shop.<Boolean>alone(
                                  () -> elsewhere.alone(() -> second.inspect("orders").isHeld())))
                          .isTrue();
                    }));
  }

  @Test
  void callsThatShareALockRunTogetherAndKeepOthersOut() {
    with(
        shop -> {
          boolean together =
              shop.shared(
                  () -> CompletableFuture.supplyAsync(() -> shop.shared(() -> true)).join());
          assertThat(together).isTrue();
          assertThatThrownBy(
                  () ->
                      shop.shared(
                          () -> {
                            shop.impatient();
                            return null;
                          }))
              .isInstanceOf(IllegalStateException.class)
              .hasMessageContaining("wait for itself");
          try (Lease held = acquired("orders")) {
            assertThatThrownBy(() -> shop.shared(() -> true))
                .isInstanceOf(LockNotAcquiredException.class);
          }
        });
  }

  @Test
  void theLeaseIsAtHandInTheMethodAndNotAfterIt() {
    with(
        shop -> {
          Lease lease = shop.alone(Leases::current);
          assertThat(lease.lock()).isEqualTo("orders");
          assertThat(
                  shop.<Boolean>alone(
                      () -> Leases.of("orders").equals(Leases.find()) && Leases.of("x").isEmpty()))
              .isTrue();
          assertThat(Leases.find()).isEmpty();
          assertThat(shop.plain()).isTrue();
          assertThatThrownBy(Leases::current).isInstanceOf(IllegalStateException.class);
        });
  }

  @Test
  void theLeaseAtHandIsOfTheLockThatTheInnermostCallNamesThoughItJoins() {
    with(
        shop -> {
          List<Lease> leases =
              shop.alone(
                  () -> {
                    Lease orders = Leases.current();
                    return shop.billed(
                        () -> {
                          Lease joined = shop.alone(Leases::current);
                          return List.of(orders, joined, Leases.current());
                        });
                  });
          assertThat(leases).extracting(Lease::lock).containsExactly("orders", "orders", "bills");
          assertThat(leases.get(1)).isSameAs(leases.get(0));
        });
  }

  @Test
  void anAnnotationOfTheUsersOwnLocksToo() {
    with(shop -> assertThat(shop.composed()).isEqualTo("composed"));
  }

  @Test
  void aLossEndsTheCallThoughTheMethodHasEndedWell() {
    with(
        shop ->
            assertThatThrownBy(
                    () ->
                        shop.shortLease(
                            () -> {
                              Lease lease = Leases.current();
                              clients.other().evict("orders", lease.token());
                              await().until(() -> !lease.isValid());
                            }))
                .isInstanceOf(LeaseLostException.class));
  }

  @Test
  void locksAreTakenWhereTheApplicationHasSwitchedProxiesOff() {
    TestClients.application()
        .withBean(Shop.class)
        .withBean("currency", String.class, () -> "EUR")
        .withPropertyValues("shop.name=corner", "spring.aop.auto=false")
        .run(
            context ->
                assertThat(
                        context.getBean(Shop.class).<Boolean>alone(() -> clients.isFree("orders")))
                    .isFalse());
  }

  @Test
  void manyThreadsAreOneAtATime() throws Exception {
    int[] inside = new int[2];
    var threads = Executors.newFixedThreadPool(8);
    try {
      with(
          shop -> {
            List<CompletableFuture<Void>> calls =
                java.util.stream.IntStream.range(0, 200)
                    .mapToObj(
                        i ->
                            CompletableFuture.runAsync(
                                () ->
                                    shop.alone(
                                        () -> {
                                          inside[0]++;
                                          inside[1] += inside[0];
                                          inside[0]--;
                                          return null;
                                        }),
                                threads))
                    .toList();
            calls.forEach(CompletableFuture::join);
          });
    } finally {
      threads.shutdown();
      assertThat(threads.awaitTermination(1, TimeUnit.MINUTES)).isTrue();
    }
    assertThat(inside[1]).isEqualTo(200);
  }
}
