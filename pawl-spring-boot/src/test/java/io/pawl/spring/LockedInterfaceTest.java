package io.pawl.spring;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Proxy;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.target.SingletonTargetSource;

/** Annotations on interfaces of which a library makes the beans, as of clients and repositories. */
class LockedInterfaceTest {

  private final TestClients clients = new TestClients();

  @AfterEach
  void close() {
    clients.close();
  }

  interface Stock {

    @Locked("stock:#{#sku}")
    boolean isFree(String sku);
  }

  interface Priced {

    @Locked("prices")
    void price();

    @Locked("")
    void round();
  }

  private Object answer(Object[] arguments) {
    return clients.isFree("stock:" + arguments[0]);
  }

  private <T> T made(Class<T> type) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) ->
                switch (method.getName()) {
                  case "hashCode" -> System.identityHashCode(proxy);
                  case "toString" -> type.getName();
                  case "equals" -> proxy == arguments[0];
                  default -> answer(arguments);
                }));
  }

  @Test
  void aMethodOfAnInterfaceIsLockedThoughALibraryMakesItsBean() {
    TestClients.application()
        .withBean(Stock.class, () -> made(Stock.class))
        .run(context -> assertThat(context.getBean(Stock.class).isFree("17")).isFalse());
  }

  @Test
  void aMethodOfAnInterfaceIsLockedThoughItsBeanIsAProxyOfSpringsAlready() {
    TestClients.application()
        .withBean(
            Stock.class,
            () -> ProxyFactory.getProxy(Stock.class, new SingletonTargetSource(made(Stock.class))))
        .run(context -> assertThat(context.getBean(Stock.class).isFree("17")).isFalse());
  }

  @Test
  void aMethodOfAnInterfaceIsLockedThoughItsBeanIsALambda() {
    TestClients.application()
        .withBean(Stock.class, () -> sku -> clients.isFree("stock:" + sku))
        .run(context -> assertThat(context.getBean(Stock.class).isFree("17")).isFalse());
  }

  @Test
  void anAnnotationOfAnInterfaceIsRefusedAtTheStartThoughALibraryMakesItsBean() {
    TestClients.application()
        .withBean(Priced.class, () -> made(Priced.class))
        .run(
            context ->
                assertThat(context.getStartupFailure())
                    .rootCause()
                    .hasMessageContaining("has no name"));
  }
}
