package io.pawl.etcd.gateway;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.error.StoreUnavailableException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** What becomes of requests that nobody can carry, and of those that travel together. */
class LanesTest {

  private static final Duration TIMEOUT = Duration.ofSeconds(2);

  private static final Txn READ = Txn.of(Txn.get("key"), Txn.get("other"));

  private static Gateway nowhere() {
    return new Gateway(
        new Target(
            "etcd://nowhere",
            List.of(new Endpoint("localhost", 1)),
            null,
            true,
            null,
            null,
            TIMEOUT));
  }

  @Test
  void aRequestForWhichNoThreadCanBeStartedFails() {
    try (Gateway gateway = nowhere();
        Lanes lanes =
            new Lanes(
                gateway,
                gateway.failures(),
                task -> {
                  throw new InternalError("unable to create native thread");
                },
                2)) {
      for (int i = 0; i < 3; i++) {
        CompletableFuture<TxnReply> reply = new CompletableFuture<>();
        lanes.submit(Call.of(READ, reply, TIMEOUT));

        assertThatThrownBy(() -> reply.orTimeout(10, TimeUnit.SECONDS).join())
            .isInstanceOf(CompletionException.class)
            .cause()
            .isInstanceOf(StoreUnavailableException.class)
            .hasMessageContaining("no thread can be started");
      }
    }
  }

  /** Too late to be sent; {@code told} hears of it. */
  private static Call late(Consumer<Throwable> told) {
    long past = System.nanoTime() - 1;
    return new Call(Call.TXN, READ.json(), READ, true, past, fields -> {}, reply -> {}, told);
  }

  private static void assertThatItFails(CompletableFuture<TxnReply> reply) {
    assertThatThrownBy(() -> reply.orTimeout(20, TimeUnit.SECONDS).join())
        .isInstanceOf(CompletionException.class)
        .cause()
        .isNotInstanceOf(TimeoutException.class);
  }

  /** It is the only thread: nobody else would take its place. */
  @Test
  void anErrorAmidABatchFailsItsOtherRequestsAndDelaysNoLaterOnes() {
    CountDownLatch both = new CountDownLatch(1);
    AtomicBoolean thrown = new AtomicBoolean();
    try (Gateway gateway = nowhere();
        Lanes lanes =
            new Lanes(
                gateway,
                gateway.failures(),
                task ->
                    new Thread(
                        () -> {
                          try {
                            both.await();
                          } catch (InterruptedException e) {
                            throw new AssertionError(e);
                          }
                          task.run();
                        }),
                1)) {
      CompletableFuture<TxnReply> together = new CompletableFuture<>();
      CompletableFuture<TxnReply> after = new CompletableFuture<>();
      lanes.submit(
          late(
              error -> {
                if (thrown.compareAndSet(false, true)) {
                  throw new OutOfMemoryError("for a test");
                }
              }));
      lanes.submit(Call.of(READ, together, TIMEOUT));
      both.countDown();
      assertThatItFails(together);

      lanes.submit(Call.of(READ, after, TIMEOUT));

      assertThatItFails(after);
    }
  }

  /**
   * etcd answers a transaction that only reads without an entry of its log; a nested one has one.
   */
  @Test
  void readsThatTravelTogetherOnlyRead() {
    Txn together = Txn.together(List.of(READ, READ));

    assertThat(together.isPlainRead()).isTrue();
    assertThat(together.json()).doesNotContain("request_txn");
    assertThat(together.size()).isEqualTo(4);
  }

  @Test
  void anErrorOfAStreamKeepsItsText() {
    String said = "etcdserver: requested lease not found";

    assertThat(
            new Failures("etcd://nowhere")
                .refused(
                    404,
                    ("{\"error\":{\"grpc_code\":5,\"message\":\"" + said + "\"}}").getBytes(UTF_8),
                    "/v3/lease/keepalive"))
        .hasMessageContaining(said)
        .matches(error -> RefusedException.is(error, RefusedException.Reason.LEASE_GONE));
  }
}
