package io.pawl.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.pawl.GroupLease;
import io.pawl.Lease;
import io.pawl.error.LeaseLostException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** Several locks of one annotation. */
class SeveralLocksTest {

  private final TestClients clients = new TestClients();

  @AfterEach
  void close() {
    clients.close();
  }

  static class Bank {

    @Locked(names = {"account:#{#from}", "account:#{#to}"})
    public <T> T transfer(String from, String to, Supplier<T> body) {
      return body.get();
    }

    @Locked(
        names = {"stock:#{#skus}", "orders"},
        waitAtMost = "0s")
    public Set<String> reserve(List<String> skus) {
      return Leases.currentGroup().tokens().keySet();
    }

    @Locked(names = "shelf:#{#numbers}:#{#sides}", waitAtMost = "0s")
    public Set<String> shelves(int[] numbers, String... sides) {
      return Leases.currentGroup().tokens().keySet();
    }

    @Locked(names = "#{#shelf} #{#side}", waitAtMost = "0s")
    public Set<String> apart(int shelf, String side) {
      return Leases.currentGroup().tokens().keySet();
    }

    @Locked("account:a")
    public <T> T one(Supplier<T> body) {
      return body.get();
    }

    @Locked("account:b")
    public <T> T other(Supplier<T> body) {
      return body.get();
    }

    @Locked("orders")
    public <T> T ordered(Supplier<T> body) {
      return body.get();
    }

    @Locked(
        names = {"account:a", "account:b"},
        waitAtMost = "1m",
        lease = "150ms")
    public void shortLease(Runnable body) {
      body.run();
    }

    @Locked(
        names = {"account:a", "account:b"},
        waitAtMost = "0s")
    public Mono<Set<String>> mono(CompletableFuture<String> work) {
      return Mono.deferContextual(
          context ->
              Mono.fromFuture(work, true)
                  .map(text -> context.get(GroupLease.class).tokens().keySet()));
    }
  }

  private void with(Consumer<Bank> use) {
    TestClients.application()
        .withBean(Bank.class)
        .run(context -> use.accept(context.getBean(Bank.class)));
  }

  private Lease acquired(String lock) {
    return clients.other().lock(lock).tryAcquire().orElseThrow();
  }

  private boolean areFree(String... locks) {
    return List.of(locks).stream().allMatch(clients::isFree);
  }

  @Test
  void aCallHoldsAllItsLocksWhileItRunsAndNoneAfterIt() {
    with(
        bank -> {
          boolean held =
              bank.transfer(
                  "a", "b", () -> !clients.isFree("account:a") && !clients.isFree("account:b"));
          assertThat(held).isTrue();
          assertThat(areFree("account:a", "account:b")).isTrue();
        });
  }

  @Test
  void aNameMayHaveASpaceBetweenExpressions() {
    with(
        bank -> {
          assertThat(bank.apart(1, "left")).containsExactly("1 left");
          assertThatThrownBy(() -> bank.apart(1, " ")).isInstanceOf(IllegalArgumentException.class);
        });
  }

  @Test
  void aCollectionStandsForOneLockOfEachElement() {
    with(
        bank -> {
          assertThat(bank.reserve(List.of("x", "y", "x")))
              .containsExactly("orders", "stock:x", "stock:y");
          assertThat(bank.shelves(new int[] {1, 2}, "left", "right"))
              .containsExactly("shelf:1:left", "shelf:1:right", "shelf:2:left", "shelf:2:right");
        });
  }

  @Test
  void whatMakesNoNamesOrTooManyIsRefused() {
    List<String> tooMany = IntStream.range(0, 257).mapToObj(Integer::toString).toList();
    with(
        bank -> {
          assertThatThrownBy(() -> bank.reserve(List.of()))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("is empty");
          assertThatThrownBy(() -> bank.reserve(List.of("x", " ")))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("is blank");
          assertThatThrownBy(() -> bank.reserve(tooMany))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("more than 256");
        });
  }

  @Test
  void aCallThatDoesNotGetOneOfThemHoldsNone() {
    with(
        bank -> {
          try (Lease held = acquired("stock:y")) {
            assertThatThrownBy(() -> bank.reserve(List.of("x", "y")))
                .isInstanceOfSatisfying(
                    LockNotAcquiredException.class,
                    busy ->
                        assertThat(busy.locks()).containsExactly("orders", "stock:x", "stock:y"));
            assertThat(areFree("orders", "stock:x")).isTrue();
          }
        });
  }

  @Test
  void callsInOppositeOrdersDoNotWaitForEachOther() {
    with(
        bank -> {
          List<CompletableFuture<Boolean>> calls =
              IntStream.range(0, 40)
                  .mapToObj(
                      i ->
                          CompletableFuture.supplyAsync(
                              () ->
                                  i % 2 == 0
                                      ? bank.transfer("a", "b", () -> true)
                                      : bank.transfer("b", "a", () -> true)))
                  .toList();
          calls.forEach(call -> assertThat(call.orTimeout(1, TimeUnit.MINUTES).join()).isTrue());
        });
  }

  @Test
  void aCallJoinsLocksThatItsThreadHasAndTakesNoMoreBesideThem() {
    with(
        bank -> {
          assertThat(
                  bank.<Boolean>transfer(
                      "a", "b", () -> bank.one(() -> bank.transfer("b", "a", () -> true))))
              .isTrue();
          assertThatThrownBy(() -> bank.one(() -> bank.transfer("a", "b", () -> true)))
              .isInstanceOf(IllegalStateException.class)
              .hasMessageContaining("holds some of them already");
          assertThat(areFree("account:a", "account:b")).isTrue();
        });
  }

  @Test
  void theLossOfOneEndsTheCallThoughTheMethodHasEndedWell() {
    with(
        bank ->
            assertThatThrownBy(
                    () ->
                        bank.shortLease(
                            () -> {
                              GroupLease lease = Leases.currentGroup();
                              clients.other().evict("account:b", lease.token("account:b"));
                              await().until(() -> !lease.isValid());
                            }))
                .isInstanceOf(LeaseLostException.class));
  }

  @Test
  void theLeaseOfSeveralIsAtHandAndThatOfOneIsNot() {
    with(
        bank -> {
          assertThat(bank.<Boolean>transfer("a", "b", () -> Leases.find().isPresent())).isFalse();
          assertThatThrownBy(() -> bank.transfer("a", "b", Leases::current))
              .isInstanceOf(IllegalStateException.class)
              .hasMessageContaining("currentGroup");
          assertThatThrownBy(() -> bank.one(Leases::currentGroup))
              .isInstanceOf(IllegalStateException.class)
              .hasMessageContaining("Leases.current()");
          assertThatThrownBy(Leases::currentGroup).isInstanceOf(IllegalStateException.class);
        });
  }

  @Test
  void aCallThatJoinsSeveralHasNoLeaseOfAnotherAtHand() {
    with(
        bank ->
            bank.one(
                () ->
                    bank.other(
                        () ->
                            bank.ordered(
                                () -> {
                                  assertThat(bank.transfer("a", "b", Leases::find)).isEmpty();
                                  assertThatThrownBy(
                                          () -> bank.transfer("a", "b", Leases::currentGroup))
                                      .isInstanceOf(IllegalStateException.class)
                                      .hasMessageContaining("Leases.of");
                                  assertThat(bank.transfer("a", "b", () -> Leases.of("account:a")))
                                      .isPresent();
                                  return assertThat(Leases.current().lock()).isEqualTo("orders");
                                }))));
  }

  @Test
  void aMonoHoldsAllUntilItHasCompleted() {
    with(
        bank -> {
          CompletableFuture<String> work = new CompletableFuture<>();
          CompletableFuture<Set<String>> result = bank.mono(work).toFuture();
          await().until(() -> !clients.isFree("account:b"));
          assertThatThrownBy(() -> bank.mono(work).block())
              .isInstanceOf(LockNotAcquiredException.class);

          work.complete("done");

          assertThat(result.orTimeout(1, TimeUnit.MINUTES).join())
              .containsExactly("account:a", "account:b");
          await().until(() -> areFree("account:a", "account:b"));
        });
  }
}
