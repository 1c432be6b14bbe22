package io.pawl.etcd.gateway;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.pawl.error.StoreUnavailableException;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Proxy;
import java.net.ProxySelector;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.URI;
import java.net.UnknownHostException;
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

  @Test
  void whoNamesNoHostThatThereIsHearsWhy() {
    Target target =
        new Target("etcd://unknown", List.of(LOST), null, true, null, null, Duration.ofMillis(200));
    try (Gateway gateway =
        new Gateway(
            target,
            host -> {
              throw new UnknownHostException(host + ": Temporary failure in name resolution");
            })) {
      assertThatThrownBy(
              () -> gateway.call("/v3/lease/grant", "{}").orTimeout(20, TimeUnit.SECONDS).join())
          .cause()
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageContaining("Temporary failure in name resolution");
    }
  }

  /** As in a network whose names a SOCKS proxy alone knows. */
  @Test
  void p6_someoneGetsIn_aHostThatTheProxyAloneKnowsIsReached() throws Exception {
    Endpoint inside = new Endpoint("etcd-0.inside.invalid", 2379);
    ProxySelector before = ProxySelector.getDefault();
    try (ServerSocket proxy = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      CompletableFuture<String> asked = CompletableFuture.supplyAsync(() -> askedOf(proxy));
      ProxySelector.setDefault(new Socks(proxy.getLocalSocketAddress()));
      try (Gateway gateway =
          new Gateway(
              new Target(
                  "etcd://inside",
                  List.of(inside),
                  null,
                  true,
                  null,
                  null,
                  Duration.ofSeconds(10)))) {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
        gateway.connect(deadline).close();
      }
      assertThat(asked).succeedsWithin(Duration.ofSeconds(10)).isEqualTo(inside.host());
    } finally {
      ProxySelector.setDefault(before);
    }
  }

  private static final class Socks extends ProxySelector {
    private final SocketAddress proxy;

    Socks(SocketAddress proxy) {
      this.proxy = proxy;
    }

    @Override
    public List<Proxy> select(URI uri) {
      return List.of(new Proxy(Proxy.Type.SOCKS, proxy));
    }

    @Override
    public void connectFailed(URI uri, SocketAddress address, IOException failure) {}
  }

  /** Lets one client through, and returns the name of the host that it asked for. */
  private static String askedOf(ServerSocket proxy) {
    try (Socket client = proxy.accept()) {
      DataInputStream in = new DataInputStream(client.getInputStream());
      in.skipNBytes(1);
      in.skipNBytes(in.readUnsignedByte());
      client.getOutputStream().write(new byte[] {5, 0});
      in.skipNBytes(4);
      String host = new String(in.readNBytes(in.readUnsignedByte()), US_ASCII);
      in.skipNBytes(2);
      client.getOutputStream().write(new byte[] {5, 0, 0, 1, 127, 0, 0, 1, 0, 1});
      return host;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
