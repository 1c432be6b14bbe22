package io.pawl.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.pawl.Lease;
import io.pawl.error.LeaseLostException;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.aopalliance.aop.Advice;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscription;
import org.springframework.aop.Advisor;
import org.springframework.aop.MethodBeforeAdvice;
import org.springframework.aop.interceptor.ExposeInvocationInterceptor;
import org.springframework.aop.support.StaticMethodMatcherPointcutAdvisor;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanDefinitionCustomizer;
import org.springframework.core.Ordered;
import reactor.core.CoreSubscriber;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

class LockedAsyncTest {

  private final TestClients clients = new TestClients();

  @AfterEach
  void close() {
    clients.close();
  }

  static class Shop {

    @Locked(name = "orders", waitAtMost = "1m")
    public CompletableFuture<String> stage(CompletableFuture<String> work) {
      assertThat(Leases.current().lock()).isEqualTo("orders");
      return work;
    }

    @Locked(name = "orders", onBusy = OnBusy.SKIP)
    public CompletableFuture<String> skippedStage() {
      return CompletableFuture.completedFuture("ran");
    }

    @Locked(name = "orders", waitAtMost = "0s")
    public CompletableFuture<String> impatientStage() {
      return CompletableFuture.completedFuture("ran");
    }

    @Locked(name = "orders", waitAtMost = "1m")
    public Mono<String> mono(CompletableFuture<String> work) {
      return Mono.deferContextual(
          context ->
              Mono.fromFuture(work, true)
                  .map(text -> text + " under " + context.get(Lease.class).lock()));
    }

    @Locked(name = "orders", lease = "150ms")
    public Mono<String> shortMono(Function<Lease, String> work) {
      return Mono.deferContextual(context -> Mono.just(work.apply(context.get(Lease.class))));
    }

    @Locked(name = "orders", onBusy = OnBusy.SKIP)
    public Mono<String> skippedMono() {
      return Mono.just("ran");
    }

    @Locked(name = "orders", waitAtMost = "0s")
    public Mono<String> impatientMono() {
      return Mono.just("ran");
    }

    @Locked(name = "orders", waitAtMost = "1m")
    public Flux<Integer> flux(CompletableFuture<Integer> last) {
      return Flux.concat(Flux.just(1, 2), Mono.fromFuture(last, true));
    }
  }

  private void with(Consumer<Shop> use) {
    TestClients.application()
        .withBean(Shop.class)
        .run(context -> use.accept(context.getBean(Shop.class)));
  }

  private void awaitHeld() {
    await().until(() -> !clients.isFree("orders"));
  }

  private void awaitFree() {
    await().until(() -> clients.isFree("orders"));
  }

  private static <T> T ended(CompletableFuture<T> future) {
    return future.orTimeout(1, TimeUnit.MINUTES).join();
  }

  @Test
  void aStageHoldsTheLockUntilItHasCompleted() {
    with(
        shop -> {
          CompletableFuture<String> work = new CompletableFuture<>();
          CompletableFuture<String> result = shop.stage(work);
          awaitHeld();

          work.complete("done");

          assertThat(ended(result)).isEqualTo("done");
          assertThat(clients.isFree("orders")).isTrue();
          assertThat(ended(shop.stage(CompletableFuture.completedFuture(null)))).isNull();
        });
  }

  @Test
  void aStageThatFailsReleasesTheLock() {
    with(
        shop -> {
          CompletableFuture<String> result =
              shop.stage(CompletableFuture.failedFuture(new IllegalStateException("of the work")));
          assertThatThrownBy(() -> ended(result))
              .isInstanceOf(CompletionException.class)
              .hasRootCauseMessage("of the work");
          assertThat(clients.isFree("orders")).isTrue();
        });
  }

  @Test
  void aStageThatFindsTheLockBusyFailsOrIsSkipped() {
    with(
        shop -> {
          try (Lease held = clients.other().lock("orders").tryAcquire().orElseThrow()) {
            assertThat(ended(shop.skippedStage())).isNull();
            assertThatThrownBy(() -> ended(shop.impatientStage()))
                .hasCauseInstanceOf(LockNotAcquiredException.class);
            assertThat(shop.skippedMono().blockOptional()).isEmpty();
            assertThatThrownBy(() -> shop.impatientMono().block())
                .isInstanceOf(LockNotAcquiredException.class);
          }
          assertThat(ended(shop.skippedStage())).isEqualTo("ran");
        });
  }

  @Test
  void cancellingAStageThatWaitsLeavesTheQueue() {
    with(
        shop -> {
          try (Lease held = clients.other().lock("orders").tryAcquire().orElseThrow()) {
            CompletableFuture<String> result = shop.stage(new CompletableFuture<>());
            await().until(() -> clients.other().inspect("orders").waiters().size() == 1);
            result.cancel(false);
            await().until(() -> clients.other().inspect("orders").waiters().isEmpty());
          }
        });
  }

  @Test
  void aMonoHoldsTheLockFromItsSubscriptionUntilItHasCompleted() {
    with(
        shop -> {
          CompletableFuture<String> work = new CompletableFuture<>();
          Mono<String> mono = shop.mono(work);
          assertThat(clients.isFree("orders")).isTrue();
          CompletableFuture<String> result = mono.toFuture();
          awaitHeld();

          work.complete("done");

          assertThat(ended(result)).isEqualTo("done under orders");
          assertThat(clients.isFree("orders")).isTrue();
          assertThat(mono.block(Duration.ofMinutes(1))).isEqualTo("done under orders");
        });
  }

  private void lose(Lease lease) {
    clients.other().evict("orders", lease.token());
    await().until(() -> !lease.isValid());
  }

  @Test
  void theLossOfAMonosLeaseIsTold() {
    with(
        shop ->
            assertThatThrownBy(
                    () ->
                        shop.shortMono(
                                lease -> {
                                  lose(lease);
                                  return "done";
                                })
                            .block())
                .hasCauseInstanceOf(LeaseLostException.class));
  }

  @Test
  void aMonoThatFailsHasItsOwnExceptionThoughItsLeaseWasLostToo() {
    with(
        shop ->
            assertThatThrownBy(
                    () ->
                        shop.shortMono(
                                lease -> {
                                  lose(lease);
                                  throw new IllegalStateException("of the work");
                                })
                            .block())
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("of the work")
                .satisfies(
                    failure ->
                        assertThat(failure.getSuppressed())
                            .hasAtLeastOneElementOfType(LeaseLostException.class)));
  }

  @Test
  void aMonoThatIsCancelledLeavesTheQueueOrGoesOnToItsEnd() {
    with(
        shop -> {
          CompletableFuture<String> work = new CompletableFuture<>();
          Disposable running = shop.mono(work).subscribe();
          awaitHeld();
          Disposable waiting = shop.mono(new CompletableFuture<>()).subscribe();
          waiting.dispose();
          running.dispose();
          assertThat(clients.isFree("orders")).isFalse();
          work.complete("done");
          awaitFree();
        });
  }

  private static Advisor ofTheShop(Advice advice, int order) {
    StaticMethodMatcherPointcutAdvisor advisor =
        new StaticMethodMatcherPointcutAdvisor(advice) {
          @Override
          public boolean matches(Method method, Class<?> type) {
            return Shop.class.isAssignableFrom(type);
          }
        };
    advisor.setOrder(order);
    return advisor;
  }

  /** As advice of AspectJ's asks, but for that around a method. */
  @Test
  void adviceUnderTheLockIsToldOfTheCall() {
    List<String> told = new CopyOnWriteArrayList<>();
    MethodBeforeAdvice asks =
        (method, arguments, target) ->
            told.add(ExposeInvocationInterceptor.currentInvocation().getMethod().getName());
    BeanDefinitionCustomizer seen = bean -> bean.setRole(BeanDefinition.ROLE_INFRASTRUCTURE);
    TestClients.application()
        .withBean(
            "exposes",
            Advisor.class,
            () -> ofTheShop(ExposeInvocationInterceptor.INSTANCE, Ordered.HIGHEST_PRECEDENCE),
            seen)
        .withBean("asks", Advisor.class, () -> ofTheShop(asks, Ordered.LOWEST_PRECEDENCE), seen)
        .withBean(Shop.class)
        .run(
            context -> {
              Shop shop = context.getBean(Shop.class);
              assertThat(ended(shop.stage(CompletableFuture.completedFuture("done"))))
                  .isEqualTo("done");
              assertThat(ended(shop.mono(CompletableFuture.completedFuture("done")).toFuture()))
                  .isEqualTo("done under orders");
              assertThat(
                      ended(
                          shop.flux(CompletableFuture.completedFuture(3)).collectList().toFuture()))
                  .containsExactly(1, 2, 3);
              assertThat(told).containsExactly("stage", "mono", "flux");
            });
  }

  /** Does something as a lock that was granted is handed on from one operator to the next. */
  private record HandedOn(CoreSubscriber<? super Object> next, Runnable before)
      implements CoreSubscriber<Object> {

    @Override
    public Context currentContext() {
      return next.currentContext();
    }

    @Override
    public void onSubscribe(Subscription subscription) {
      next.onSubscribe(subscription);
    }

    @Override
    public void onNext(Object value) {
      if (value instanceof Taken || value instanceof Optional) {
        before.run();
      }
      next.onNext(value);
    }

    @Override
    public void onError(Throwable failure) {
      next.onError(failure);
    }

    @Override
    public void onComplete() {
      next.onComplete();
    }
  }

  /** Returns whether the grant took so many steps, at the last of which the call was cancelled. */
  private boolean isCancelledAt(int step, Supplier<Publisher<?>> call) {
    AtomicInteger steps = new AtomicInteger();
    AtomicBoolean cancelled = new AtomicBoolean();
    AtomicBoolean ran = new AtomicBoolean();
    Disposable.Swap waiting = Disposables.swap();
    Runnable cancels =
        () -> {
          if (steps.incrementAndGet() == step) {
            waiting.dispose();
            cancelled.set(true);
          }
        };
    Lease busy = clients.other().lock("orders").tryAcquire().orElseThrow();
    Hooks.onEachOperator("steps", Operators.lift((source, next) -> new HandedOn(next, cancels)));
    try {
      waiting.update(Flux.from(call.get()).subscribe(value -> ran.set(true)));
    } finally {
      Hooks.resetOnEachOperator("steps");
    }
    await().until(() -> clients.other().inspect("orders").waiters().size() == 1);
    busy.close();
    await().until(() -> cancelled.get() || ran.get());
    waiting.dispose();
    awaitFree();
    return cancelled.get();
  }

  @Test
  void aGrantIsGivenBackWhereverACancellationMeetsIt() {
    with(
        shop -> {
          List<Supplier<Publisher<?>>> calls =
              List.of(
                  () -> shop.mono(CompletableFuture.completedFuture("done")),
                  () -> shop.flux(new CompletableFuture<>()));
          for (Supplier<Publisher<?>> call : calls) {
            int step = 1;
            while (isCancelledAt(step, call)) {
              step++;
            }
            assertThat(step).isGreaterThan(3);
          }
        });
  }

  @Test
  void aFluxThatIsCancelledReleasesTheLock() {
    with(
        shop -> {
          Disposable running = shop.flux(new CompletableFuture<>()).subscribe();
          awaitHeld();
          running.dispose();
          awaitFree();
        });
  }

  @Test
  void aFluxHoldsTheLockUntilItsLastElement() {
    with(
        shop -> {
          CompletableFuture<Integer> last = new CompletableFuture<>();
          CompletableFuture<java.util.List<Integer>> all = shop.flux(last).collectList().toFuture();
          awaitHeld();
          last.complete(3);
          assertThat(ended(all)).containsExactly(1, 2, 3);
          assertThat(clients.isFree("orders")).isTrue();
        });
  }
}
