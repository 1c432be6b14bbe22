package io.pawl.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.Lease;
import java.io.IOException;
import java.lang.reflect.InvocationHandler;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.target.HotSwappableTargetSource;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Methods that run in place of calls that do not get their lock. */
class FallbackTest {

  private final TestClients clients = new TestClients();

  @AfterEach
  void close() {
    clients.close();
  }

  interface Prices {
    String price(long id);
  }

  static class Shop implements Prices {

    private final String suffix = " of this object";

    @Override
    @Locked(name = "orders", waitAtMost = "0s", fallback = "cached")
    public String price(long id) {
      return "fresh " + id;
    }

    @Locked(name = "orders", waitAtMost = "1m", fallback = "cached")
    public String patient(long id) {
      return "fresh " + id;
    }

    @SuppressWarnings("UnusedMethod") // by its name
    private String cached(long id) {
      return "cached " + id + suffix;
    }

    @Locked(name = "orders", waitAtMost = "0s", fallback = "whyNot")
    public String reason() {
      return "ran";
    }

    String whyNot(LockNotAcquiredException busy) {
      return busy.lock();
    }

    @Locked(name = "orders", waitAtMost = "0s", fallback = "fails")
    public void failing() throws IOException {}

    void fails() throws IOException {
      throw new IOException("of the fallback");
    }

    @Locked(name = "orders", waitAtMost = "0s", fallback = "otherStage")
    public CompletableFuture<String> stage() {
      return CompletableFuture.completedFuture("ran");
    }

    CompletableFuture<String> otherStage() {
      return CompletableFuture.completedFuture("other");
    }

    @Locked(name = "orders", waitAtMost = "0s", fallback = "otherMono")
    public Mono<String> mono(RuntimeException failure) {
      return Mono.error(failure);
    }

    Mono<String> otherMono(RuntimeException failure, LockNotAcquiredException busy) {
      return Mono.just("other " + busy.lock() + failure.getMessage());
    }

    @Locked(name = "orders", waitAtMost = "0s", fallback = "otherFlux")
    public Flux<String> flux() {
      return Flux.just("ran");
    }

    Flux<String> otherFlux() {
      return Flux.just("a", "b");
    }
  }

  private void with(Consumer<Shop> use) {
    TestClients.application()
        .withBean(Shop.class)
        .run(context -> use.accept(context.getBean(Shop.class)));
  }

  private void whileBusy(Runnable body) {
    try (Lease held = clients.other().lock("orders").tryAcquire().orElseThrow()) {
      body.run();
    }
  }

  @Test
  void aCallThatDoesNotGetItsLockRunsTheFallbackOfItsObject() {
    with(
        shop -> {
          whileBusy(() -> assertThat(shop.price(7)).isEqualTo("cached 7 of this object"));
          assertThat(shop.price(7)).isEqualTo("fresh 7");
        });
  }

  @Test
  void aFallbackIsFoundBehindAProxyOfAnInterfaceToo() {
    TestClients.application()
        .withBean(Shop.class)
        .withPropertyValues("spring.aop.proxy-target-class=false")
        .run(
            context ->
                whileBusy(
                    () ->
                        assertThat(context.getBean(Prices.class).price(7))
                            .isEqualTo("cached 7 of this object")));
  }

  @Test
  void aFallbackMayHearOfTheReasonAndFailAsItLikes() {
    with(
        shop ->
            whileBusy(
                () -> {
                  assertThat(shop.reason()).isEqualTo("orders");
                  assertThatThrownBy(shop::failing).isInstanceOf(IOException.class);
                }));
  }

  @Test
  void anInterruptedWaitEndsTheCallWithoutTheFallback() {
    with(
        shop ->
            whileBusy(
                () -> {
                  Thread.currentThread().interrupt();
                  assertThatThrownBy(() -> shop.patient(7))
                      .isInstanceOf(LockNotAcquiredException.class)
                      .hasCauseInstanceOf(InterruptedException.class);
                  assertThat(Thread.interrupted()).isTrue();
                }));
  }

  @Test
  void stagesAndPublishersHaveFallbacks() {
    with(
        shop -> {
          whileBusy(
              () -> {
                assertThat(shop.stage().orTimeout(1, TimeUnit.MINUTES).join()).isEqualTo("other");
                assertThat(shop.mono(new IllegalStateException("!")).block())
                    .isEqualTo("other orders!");
                assertThat(shop.flux().collectList().block()).containsExactly("a", "b");
              });
          assertThat(shop.flux().collectList().block()).containsExactly("ran");
        });
  }

  @Test
  void whatFailsInTheMethodItselfIsNoBusyLock() {
    with(
        shop -> {
          LockNotAcquiredException ofAnother =
              new LockNotAcquiredException(List.of("another"), Duration.ZERO, null);
          assertThatThrownBy(() -> shop.mono(ofAnother).block()).isSameAs(ofAnother);
        });
  }

  static class Stock {

    private final int left;

    Stock(int left) {
      this.left = left;
    }

    @Locked(name = "orders", waitAtMost = "0s", fallback = "known")
    public int left() {
      return -1;
    }

    @SuppressWarnings("UnusedMethod") // by its name
    private int known() {
      return left;
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class Stocks {
    @Bean
    Stock swapped() {
      ProxyFactory factory = new ProxyFactory();
      factory.setTargetSource(new HotSwappableTargetSource(new Stock(7)));
      factory.setProxyTargetClass(true);
      return (Stock) factory.getProxy();
    }

    @Bean
    Stock stock() {
      return new Stock(8);
    }

    @Bean
    Stock later(@Lazy @Qualifier("stock") Stock stock) {
      return stock;
    }
  }

  @ParameterizedTest
  @CsvSource({"swapped, 7", "stock, 8", "later, 8"})
  void aFallbackRunsOnTheObjectThoughThatIsFoundAtTheCall(String bean, int left) {
    TestClients.application()
        .withUserConfiguration(Stocks.class)
        .run(
            context ->
                whileBusy(
                    () -> assertThat(context.getBean(bean, Stock.class).left()).isEqualTo(left)));
  }

  interface Catalogue {
    @Locked(name = "orders", waitAtMost = "0s", fallback = "known")
    int size();

    default int known() {
      return 7;
    }
  }

  static class Books {
    public int size() {
      return 1;
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class Catalogues {

    /** As of an HTTP service or a repository: of its default methods it takes care itself. */
    private static Object answer(MethodInvocation call) throws Throwable {
      return call.getMethod().isDefault()
          ? InvocationHandler.invokeDefault(
              ((ProxyMethodInvocation) call).getProxy(), call.getMethod(), call.getArguments())
          : 1;
    }

    @Bean
    Catalogue withoutTarget() {
      return ProxyFactory.getProxy(Catalogue.class, (MethodInterceptor) Catalogues::answer);
    }

    @Bean
    Catalogue ofAnotherType() {
      ProxyFactory factory =
          new ProxyFactory(Catalogue.class, (MethodInterceptor) Catalogues::answer);
      factory.setTarget(new Books());
      return (Catalogue) factory.getProxy();
    }

    @Bean
    Catalogue swappedForAnotherType() {
      ProxyFactory factory =
          new ProxyFactory(Catalogue.class, (MethodInterceptor) Catalogues::answer);
      factory.setTargetSource(new HotSwappableTargetSource(new Books()));
      return (Catalogue) factory.getProxy();
    }
  }

  /** Behind such a proxy there is no object that has the fallback. */
  @ParameterizedTest
  @ValueSource(strings = {"withoutTarget", "ofAnotherType", "swappedForAnotherType"})
  void aFallbackOfAnInterfaceRunsOnTheProxyThatImplementsIt(String bean) {
    TestClients.application()
        .withUserConfiguration(Catalogues.class)
        .run(
            context -> {
              Catalogue catalogue = context.getBean(bean, Catalogue.class);
              whileBusy(() -> assertThat(catalogue.size()).isEqualTo(7));
              assertThat(catalogue.size()).isEqualTo(1);
            });
  }
}
