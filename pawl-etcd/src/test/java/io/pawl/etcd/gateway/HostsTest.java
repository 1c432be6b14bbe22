package io.pawl.etcd.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.pawl.error.StoreUnavailableException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Members whose name servers are silent. */
@Timeout(60)
class HostsTest {

  private static final Endpoint LOST = new Endpoint("etcd-0.example", 2379);

  private final CompletableFuture<Void> served = new CompletableFuture<>();
  private final AtomicInteger searches = new AtomicInteger();

  @AfterEach
  void serveNames() {
    served.complete(null);
  }

  private InetAddress search(String host) throws IOException {
    if (host.equals(LOST.host())) {
      searches.incrementAndGet();
      served.join();
    }
    return InetAddress.getLoopbackAddress();
  }

  private Gateway gateway(Duration timeout, Endpoint... members) {
    return new Gateway(
        new Target("etcd://lost", List.of(members), null, true, null, null, timeout), this::search);
  }

  @Test
  void p6_someoneGetsIn_aMemberWhoseHostIsNotFoundKeepsNobodyFromTheOthers() throws IOException {
    Duration timeout = Duration.ofSeconds(2);
    try (ServerSocket member = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      Endpoint there = new Endpoint("etcd-1.example", member.getLocalPort());
      try (Gateway gateway = gateway(timeout, LOST, there)) {
        for (int i = 0; i < 2; i++) {
          long deadline = System.nanoTime() + timeout.toNanos();
          try (HttpConnection open = gateway.connect(deadline)) {
            assertThat(open.endpoint()).isEqualTo(there);
          }
          gateway.endpoints().failed(there);
        }
      }
    }
    assertThat(searches).hasValue(1);
  }

  @Test
  void aRequestEndsThoughNobodyTellsItsMembersAddress() {
    try (Gateway gateway = gateway(Duration.ofMillis(200), LOST)) {
      assertThatThrownBy(
              () -> gateway.call("/v3/lease/grant", "{}").orTimeout(20, TimeUnit.SECONDS).join())
          .cause()
          .isInstanceOfSatisfying(
              StoreUnavailableException.class, e -> assertThat(e.isUnsent()).isTrue())
          .hasMessageContaining("was not found in time");
    }
  }

  @Test
  void p8_nothingLeftBehind_closingEndsRequestsThatWaitForAnAddress() {
    Gateway gateway = gateway(Duration.ofMinutes(1), LOST);
    CompletableFuture<?> asked = gateway.call("/v3/lease/grant", "{}");
    await().until(() -> searches.get() == 1);

    gateway.close();

    assertThatThrownBy(() -> asked.orTimeout(20, TimeUnit.SECONDS).join())
        .cause()
        .isInstanceOf(StoreUnavailableException.class);
  }

  @Test
  void aHostThatWasNotFoundIsLookedForAgain() throws IOException {
    try (Hosts hosts =
        new Hosts(
            host -> {
              if (searches.incrementAndGet() == 1) {
                throw new IOException("no such host");
              }
              return InetAddress.getLoopbackAddress();
            })) {
      long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(1);
      assertThatThrownBy(() -> hosts.find("etcd-0.example", deadline)).hasMessage("no such host");
      await()
          .untilAsserted(
              () ->
                  assertThat(hosts.find("etcd-0.example", deadline))
                      .isEqualTo(InetAddress.getLoopbackAddress()));
    }
  }
}
