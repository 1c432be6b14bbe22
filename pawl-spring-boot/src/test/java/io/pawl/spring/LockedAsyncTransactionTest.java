package io.pawl.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.pawl.Lease;
import io.pawl.error.LeaseLostException;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.core.task.TaskExecutor;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.reactive.AbstractReactiveTransactionManager;
import org.springframework.transaction.reactive.GenericReactiveTransaction;
import org.springframework.transaction.reactive.TransactionSynchronizationManager;
import org.springframework.transaction.reactive.TransactionalOperator;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionTemplate;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Asynchronous methods, the transactions of their callers, and their threads. */
class LockedAsyncTransactionTest {

  private final TestClients clients = new TestClients();

  @AfterEach
  void close() {
    clients.close();
  }

  static class Shop {

    @Locked("orders")
    public CompletableFuture<String> stage() {
      return CompletableFuture.completedFuture("ran");
    }

    @Locked("orders")
    public Mono<String> mono() {
      return Mono.just("ran");
    }

    @Locked("orders")
    public Mono<String> committing(CompletableFuture<Void> begun, CompletableFuture<Void> end) {
      Mono<Void> commit = Mono.fromFuture(end, true).doFirst(() -> begun.complete(null));
      return TransactionalOperator.create(new ReactiveTransactions(commit))
          .transactional(Mono.just("ran"));
    }

    @Locked("orders")
    public Flux<String> flux() {
      return Flux.just("ran");
    }

    @Locked("orders")
    public Mono<String> failing() throws IOException {
      throw new IOException("of the method");
    }

    @Async
    @Locked("orders")
    public CompletableFuture<String> onAThreadOfItsOwn(CompletableFuture<Void> end) {
      String thread = Thread.currentThread().getName();
      return end.thenApply(nothing -> thread);
    }

    @Async
    @Locked(name = "orders", lease = "150ms")
    public CompletableFuture<String> failing(Consumer<Lease> work) {
      work.accept(Leases.current());
      return CompletableFuture.failedFuture(new IOException("of the method"));
    }
  }

  /** A transaction of nothing. */
  static class Transactions extends AbstractPlatformTransactionManager {

    private static final long serialVersionUID = 1;

    @Override
    protected Object doGetTransaction() {
      return new Object();
    }

    @Override
    protected void doBegin(Object transaction, TransactionDefinition definition) {}

    @Override
    protected void doCommit(DefaultTransactionStatus status) {}

    @Override
    protected void doRollback(DefaultTransactionStatus status) {}
  }

  static class ReactiveTransactions extends AbstractReactiveTransactionManager {

    private static final long serialVersionUID = 1;

    private final transient Mono<Void> commit;

    ReactiveTransactions(Mono<Void> commit) {
      this.commit = commit;
    }

    @Override
    protected Object doGetTransaction(TransactionSynchronizationManager current) {
      return new Object();
    }

    @Override
    protected Mono<Void> doBegin(
        TransactionSynchronizationManager current,
        Object transaction,
        TransactionDefinition definition) {
      return Mono.empty();
    }

    @Override
    protected Mono<Void> doCommit(
        TransactionSynchronizationManager current, GenericReactiveTransaction status) {
      return commit;
    }

    @Override
    protected Mono<Void> doRollback(
        TransactionSynchronizationManager current, GenericReactiveTransaction status) {
      return Mono.empty();
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableAsync(proxyTargetClass = true)
  static class Threads {
    @Bean
    TaskExecutor taskExecutor() {
      return new SimpleAsyncTaskExecutor("own-");
    }
  }

  private void with(BiConsumer<Shop, ApplicationContext> use) {
    TestClients.application()
        .withUserConfiguration(Threads.class)
        .withPropertyValues("pawl.locked.open-transaction=hold")
        .withBean(Shop.class)
        .run(context -> use.accept(context.getBean(Shop.class), context));
  }

  @Test
  void anAsynchronousCallInAnOpenTransactionIsRefusedWhateverIsConfigured() {
    with(
        (shop, context) -> {
          TransactionTemplate transaction = new TransactionTemplate(new Transactions());
          assertThatThrownBy(() -> transaction.execute(status -> shop.stage()))
              .isInstanceOf(IllegalStateException.class);
          Mono<String> mono = shop.mono();
          assertThatThrownBy(() -> transaction.execute(status -> mono.block()))
              .isInstanceOf(IllegalStateException.class);
          assertThat(mono.block()).isEqualTo("ran");
        });
  }

  @Test
  void aSubscriptionInAReactiveTransactionIsRefused() {
    with(
        (shop, context) -> {
          TransactionalOperator transaction =
              TransactionalOperator.create(new ReactiveTransactions(Mono.empty()));
          assertThatThrownBy(() -> transaction.transactional(shop.mono()).block())
              .isInstanceOf(IllegalStateException.class)
              .hasMessageContaining("transaction is open");
          assertThatThrownBy(() -> transaction.transactional(shop.flux()).blockLast())
              .isInstanceOf(IllegalStateException.class)
              .hasMessageContaining("transaction is open");
          assertThat(shop.flux().blockLast()).isEqualTo("ran");
        });
  }

  @Test
  void aMonoThatIsCancelledKeepsItsLockUntilItsCommitHasEnded() {
    with(
        (shop, context) -> {
          CompletableFuture<Void> begun = new CompletableFuture<>();
          CompletableFuture<Void> end = new CompletableFuture<>();
          Disposable running = shop.committing(begun, end).subscribe();
          await().until(begun::isDone);

          running.dispose();

          assertThat(clients.isFree("orders")).isFalse();
          end.complete(null);
          await().until(() -> clients.isFree("orders"));
        });
  }

  @Test
  void aMonoFailsWithTheExceptionOfItsMethod() {
    with(
        (shop, context) ->
            assertThat(
                    Mono.defer(
                            () -> {
                              try {
                                return shop.failing();
                              } catch (IOException e) {
                                return Mono.error(new AssertionError(e));
                              }
                            })
                        .onErrorResume(IOException.class, e -> Mono.just(e.getMessage()))
                        .block())
                .isEqualTo("of the method"));
  }

  @Test
  void anAsyncMethodHasItsLockOnItsOwnThreadUntilItsStageHasCompleted() {
    with(
        (shop, context) -> {
          CompletableFuture<Void> end = new CompletableFuture<>();
          CompletableFuture<String> thread = shop.onAThreadOfItsOwn(end);
          await().until(() -> !clients.isFree("orders"));
          end.complete(null);
          assertThat(thread.orTimeout(1, TimeUnit.MINUTES).join()).startsWith("own-");
          assertThat(clients.isFree("orders")).isTrue();
        });
  }

  @Test
  void anAsyncMethodThatFailsHasItsOwnExceptionThoughItsLeaseWasLostToo() {
    with(
        (shop, context) -> {
          CompletableFuture<String> result =
              shop.failing(
                  lease -> {
                    clients.other().evict("orders", lease.token());
                    await().until(() -> !lease.isValid());
                  });
          assertThatThrownBy(() -> result.orTimeout(1, TimeUnit.MINUTES).join())
              .cause()
              .isInstanceOf(IOException.class)
              .satisfies(
                  failure ->
                      assertThat(failure.getSuppressed())
                          .hasAtLeastOneElementOfType(LeaseLostException.class));
        });
  }

  /** Its stage runs elsewhere, and goes on. */
  @Test
  void anInterruptOfItsThreadDoesNotReleaseTheLockOfAnAsyncMethod() {
    with(
        (shop, context) -> {
          CompletableFuture<Void> end = new CompletableFuture<>();
          CompletableFuture<String> thread = shop.onAThreadOfItsOwn(end);
          await().until(() -> !clients.isFree("orders"));
          Thread own = ownThread();
          await().until(() -> own.getState() == Thread.State.TIMED_WAITING);

          own.interrupt();

          await().until(() -> !own.isInterrupted() || !own.isAlive());
          await().during(Duration.ofMillis(100)).until(() -> !clients.isFree("orders"));
          end.complete(null);
          assertThat(thread.orTimeout(1, TimeUnit.MINUTES).join()).startsWith("own-");
          assertThat(clients.isFree("orders")).isTrue();
        });
  }

  private static Thread ownThread() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().startsWith("own-"))
        .findAny()
        .orElseThrow();
  }
}
