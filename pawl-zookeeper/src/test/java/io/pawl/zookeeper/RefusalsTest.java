package io.pawl.zookeeper;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.pawl.error.StoreConfigurationException;
import io.pawl.error.StoreDeniedException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.servers.ZooKeeperServer;
import io.pawl.spi.Claim;
import io.pawl.spi.Diagnosable.Finding;
import io.pawl.spi.Diagnosable.Level;
import io.pawl.spi.Standing;
import io.pawl.spi.StoreUrl;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import javax.security.auth.login.Configuration;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is refused, with what to change, and never with a password. */
class RefusalsTest {

  private static final String CANARY = "canary%2F%23%3F%40%25";
  private static final String JAAS = "java.security.auth.login.config";

  private static ZooKeeperServer server;

  /** As configured by default: sessions of 2 to 20 ticks. */
  @BeforeAll
  static void start() {
    server = ZooKeeperServer.start("tickTime=200");
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  private static String url(String user, String node) {
    return "zk://" + user + server.address() + node + "?tick=200ms";
  }

  @Test
  void aLeaseLongerThanASessionMayBeIsRefusedWithTheLongestPossible() {
    try (ZooKeeperStore store = ZooKeeperStore.connect(url("", "/bounds"))) {
      Seam seam = new Seam(store);
      Claim tooLong = seam.claim("long", Duration.ofSeconds(30), 1);

      assertThatThrownBy(() -> seam.attempt(tooLong))
          .isInstanceOf(StoreConfigurationException.class)
          .hasMessageContaining("30000 ms")
          .hasMessageContaining("at most 4000 ms")
          .hasMessageContaining("a lease of 3649 ms or less")
          .hasMessageContaining("maxSessionTimeout");
      assertThat(Seam.answer(store.show("long"))).isEmpty();
      seam.take(seam.claim("long", Duration.ofMillis(3649), 1));
    }
  }

  @Test
  void aLeaseShorterThanASessionMayBeIsRefusedWithTheShortestPossible() {
    try (ZooKeeperServer coarse = ZooKeeperServer.start("tickTime=200", "minSessionTimeout=2000");
        ZooKeeperStore store = ZooKeeperStore.connect("zk://" + coarse.address() + "?tick=200ms")) {
      Seam seam = new Seam(store);
      Claim tooShort = seam.claim("short", Duration.ofSeconds(1), 1);

      assertThatThrownBy(() -> seam.attempt(tooShort))
          .isInstanceOf(StoreConfigurationException.class)
          .hasMessageContaining("at least 2000 ms")
          .hasMessageContaining("a lease of 1649 ms or more");
    }
  }

  @Test
  void nodesOfOneUserAreClosedToOthers() {
    String owner = "me:" + CANARY + "@";
    try (ZooKeeperStore store = ZooKeeperStore.connect(url(owner, "/owned"))) {
      Seam seam = new Seam(store);
      seam.take(seam.claim("mine", Duration.ofSeconds(2), 1));
      for (String other : List.of("you:other@", "")) {
        assertThatThrownBy(() -> ZooKeeperStore.connect(url(other, "/owned")))
            .isInstanceOf(StoreDeniedException.class)
            .hasMessageContaining("/owned");
      }
      assertThat(store + store.describe()).doesNotContain("canary");
    }
  }

  @Test
  void aServerThatIsNotThereIsNamed() {
    assertThatThrownBy(
            () -> ZooKeeperStore.connect("zk://me:" + CANARY + "@127.0.0.1:1?timeout=500ms"))
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining("127.0.0.1:1")
        .hasMessageNotContaining("canary");
  }

  /** As without Netty, which TLS needs. */
  private static final class Unloadable {
    static {
      if (true) {
        throw new NoClassDefFoundError("for a test");
      }
    }
  }

  @Test
  void anErrorAtOpeningLeavesNoThread() {
    Set<Thread> before = Thread.getAllStackTraces().keySet();
    System.setProperty(ZKClientConfig.ZOOKEEPER_CLIENT_CNXN_SOCKET, Unloadable.class.getName());
    try {
      assertThatThrownBy(() -> ZooKeeperStore.connect(url("", "/unloadable")))
          .isInstanceOf(NoClassDefFoundError.class);
    } finally {
      System.clearProperty(ZKClientConfig.ZOOKEEPER_CLIENT_CNXN_SOCKET);
    }

    await()
        .untilAsserted(
            () ->
                assertThat(Thread.getAllStackTraces().keySet())
                    .filteredOn(thread -> !before.contains(thread))
                    .extracting(Thread::getName)
                    .noneMatch(name -> name.startsWith("pawl-zookeeper-")));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "zk:host",
        "zk://",
        "zk://me@host",
        "zk://me:canary#x@host",
        "zk://me:canary@host:99999",
        "zk://host/a/../b",
        "zk://host/a b",
        "zk://host?tick=1ms",
        "zk://host?timeout=canary",
        "zk://host?trustStorePassword=canary&unknown=canary",
        "zk://host,,host2"
      })
  void aUrlThatCannotBeIsRefusedWithoutItsPassword(String url) {
    assertThatThrownBy(() -> Settings.parse(StoreUrl.parse(url)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("store URL 'zk:");
  }

  @Test
  void aUrlMayNameManyHostsAndANode() {
    Settings settings =
        Settings.parse(StoreUrl.parse("zk://me:" + CANARY + "@a,b:2182,[::1]:2183/x/y?tls=true"));

    assertThat(settings.hosts()).isEqualTo("a:2181,b:2182,[::1]:2183");
    assertThat(settings.base()).isEqualTo("/x/y");
    assertThat(settings.password()).isEqualTo("canary/#?@%");
    assertThat(settings.toString()).doesNotContain("canary");
  }

  @Test
  void theDoctorTriesATransactionThoughItsThreadIsInterrupted() {
    try (ZooKeeperStore store = ZooKeeperStore.connect(url("me:x@", "/doctor"))) {
      Thread.currentThread().interrupt();
      List<Finding> findings;
      try {
        findings = store.diagnose();
      } finally {
        assertThat(Thread.interrupted()).isTrue();
      }

      assertThat(findings).anyMatch(finding -> finding.what().contains("a transaction takes"));
    }
  }

  @Test
  void theDoctorSaysWhyATransactionIsRefused() throws Exception {
    try (ZooKeeperStore store = ZooKeeperStore.connect(url("", "/closed"));
        ZooKeeper other = new ZooKeeper(server.address(), 10_000, event -> {})) {
      other.addAuthInfo("digest", "other:x".getBytes(UTF_8));
      other.setACL("/closed", Ids.CREATOR_ALL_ACL, -1);

      assertThat(store.diagnose()).anyMatch(finding -> finding.what().contains("no right to"));
    }
  }

  @Test
  void theDoctorNamesTheLeasesThatArePossible() {
    try (ZooKeeperStore store = ZooKeeperStore.connect(url("me:x@", "/doctor"))) {
      List<Finding> findings = store.diagnose();
      assertThat(findings).noneMatch(finding -> finding.level() == Level.PROBLEM);
      assertThat(findings)
          .extracting(Finding::what)
          .anyMatch(what -> what.contains("standalone"))
          .anyMatch(what -> what.contains("leases of 100 to 3649 ms"));
    }
    try (ZooKeeperStore store = ZooKeeperStore.connect("zk://" + server.address() + "?tick=50ms")) {
      assertThat(store.diagnose()).anyMatch(finding -> finding.fix().contains("tick=200ms"));
    }
  }

  @Test
  void theDoctorKnowsWhoIsBehindAcrossElections() {
    long last = 0x3_0000_1000L;

    assertThat(Doctor.isBehind(last, last)).isFalse();
    assertThat(Doctor.isBehind(last - 1_000, last)).isFalse();
    assertThat(Doctor.isBehind(last - 1_001, last)).isTrue();
    assertThat(Doctor.isBehind(0x2_ffff_ffffL, last)).isTrue();
    assertThat(Doctor.isBehind(0x4_0000_0001L, last)).isFalse();
  }

  /** As of Kafka's client: ZooKeeper's says that it is not authenticated, and goes on without. */
  @Test
  void aConfigurationOfJaasForAnotherLibraryKeepsNobodyOut(@TempDir Path folder) throws Exception {
    withJaas(
        folder,
        "KafkaClient { a.LoginModule required; };",
        () -> {
          try (ZooKeeperStore store = ZooKeeperStore.connect(url("", "/jaas"))) {
            Seam seam = new Seam(store);

            seam.take(seam.claim("mine", Duration.ofSeconds(2), 1));
          }
        });
  }

  /** ZooKeeper's client knows no DIGEST-MD5 unless it is told to; a KDC may be away in this way. */
  @Test
  void p6_someoneGetsIn_aSessionWhoseSaslCannotBeginIsFollowedByAnother(@TempDir Path folder)
      throws Exception {
    try (ZooKeeperStore store = ZooKeeperStore.connect(url("", "/sasl"))) {
      Seam seam = new Seam(store);
      withJaas(
          folder,
          "Client { org.apache.zookeeper.server.auth.DigestLoginModule required"
              + " username=\"a\" password=\"b\"; };",
          () ->
              assertThatThrownBy(() -> seam.attempt(seam.claim("mine", Duration.ofSeconds(2), 1)))
                  .isInstanceOf(StoreDeniedException.class));

      await()
          .untilAsserted(
              () ->
                  assertThat(seam.attempt(seam.claim("mine", Duration.ofSeconds(2), 1)))
                      .isInstanceOf(Standing.Held.class));
    }
  }

  @Test
  void whoLacksTheSaslThatAServerAsksForIsDenied() {
    try (ZooKeeperServer strict =
        ZooKeeperServer.start(
            "tickTime=200",
            "authProvider.1=org.apache.zookeeper.server.auth.SASLAuthenticationProvider",
            "-Dzookeeper.sessionRequireClientSASLAuth=true")) {
      assertThatThrownBy(() -> ZooKeeperStore.connect("zk://" + strict.address() + "/strict"))
          .isInstanceOf(StoreDeniedException.class)
          .hasMessageContaining("SASL");
    }
  }

  private static void withJaas(Path folder, String configuration, Body body) throws Exception {
    Path file = folder.resolve("jaas.conf");
    Files.writeString(file, configuration);
    String before = System.setProperty(JAAS, file.toString());
    Configuration.setConfiguration(null); // so that it is read anew
    try {
      body.run();
    } finally {
      if (before == null) {
        System.clearProperty(JAAS);
      } else {
        System.setProperty(JAAS, before);
      }
      Configuration.setConfiguration(null);
    }
  }

  private interface Body {
    void run() throws Exception;
  }
}
