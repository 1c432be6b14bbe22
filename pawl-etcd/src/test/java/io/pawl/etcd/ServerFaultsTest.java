package io.pawl.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.error.StoreDeniedException;
import io.pawl.error.StoreException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.options.LockOptions;
import io.pawl.servers.Certificates;
import io.pawl.servers.EtcdServer;
import io.pawl.servers.FaultProxy;
import io.pawl.servers.FaultProxy.AfterDrop;
import io.pawl.spi.Claim;
import io.pawl.spi.Diagnosable.Finding;
import io.pawl.spi.Diagnosable.Level;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a server can do to locks, on a server of each case's own. */
class ServerFaultsTest {

  private static final String CANARY = "c4n4ry/?#@%&";
  private static final String ENCODED = "c4n4ry%2F%3F%23%40%25%26";

  static String base64(String text) {
    return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
  }

  static String put(EtcdServer server, String key, String value) {
    return server.post(
        "/v3/kv/put", "{\"key\":\"" + base64(key) + "\",\"value\":\"" + base64(value) + "\"}");
  }

  static void deleteAll(EtcdServer server, String prefix) {
    String end = prefix.substring(0, prefix.length() - 1) + '0';
    server.post(
        "/v3/kv/deleterange",
        "{\"key\":\"" + base64(prefix) + "\",\"range_end\":\"" + base64(end) + "\"}");
  }

  private static EtcdServer small() {
    return EtcdServer.start(
        "--quota-backend-bytes=1000000", "--heartbeat-interval=20", "--election-timeout=200");
  }

  private static void fill(EtcdServer server) {
    String large = "x".repeat(100_000);
    await()
        .atMost(20, TimeUnit.SECONDS)
        .until(() -> put(server, "large", large).contains("space exceeded"));
  }

  private static long revision(String reply) {
    int at = reply.indexOf("\"revision\":\"") + 12;
    return Long.parseLong(reply.substring(at, reply.indexOf('"', at)));
  }

  @Test
  void p6_someoneGetsIn_thoughTheHistoryWasCompactedUnderEveryWatch() throws Exception {
    try (EtcdServer server = EtcdServer.start(Urls.QUICK);
        Pawl holding = Pawl.connect(Urls.of(server));
        Pawl waiting = Pawl.connect(Urls.of(server))) {
      for (int i = 0; i < 20; i++) {
        Lease lease = holding.lock("compacted").acquire();
        var next = waiting.lock("compacted").tryAcquireAsync(Duration.ofSeconds(20));
        long revision = revision(put(server, "other", "value" + i));
        server.post("/v3/kv/compaction", "{\"revision\":\"" + revision + "\"}");
        lease.close();
        next.get(20, TimeUnit.SECONDS).orElseThrow().close();
      }
    }
  }

  @Test
  void p1_oneHolder_aServerKilledAndRestartedKeepsItsHolders() throws Exception {
    try (EtcdServer server = EtcdServer.start(Urls.QUICK);
        Pawl holding = Pawl.connect(Urls.of(server));
        Pawl other = Pawl.connect(Urls.of(server))) {
      Lease lease = holding.lock("restarted").acquire();
      server.kill();
      server.restart();

      assertThat(other.lock("restarted").tryAcquire()).isEmpty();
      assertThat(lease.isValid()).isTrue();
      lease.close();
      try (Lease next = other.lock("restarted").acquire()) {
        assertThat(next.token()).isGreaterThan(lease.token());
      }
    }
  }

  @Test
  void aServerOutOfSpaceIsAnErrorThatSaysWhatToDoAndHoldersCanStillGiveBack() {
    try (EtcdServer server = small();
        EtcdStore store = EtcdStore.connect(Urls.of(server))) {
      Seam seam = new Seam(store);
      Claim held = seam.claim("space");
      seam.take(held);
      Claim waiting = seam.claim("space");
      assertThat(seam.attempt(waiting)).isInstanceOf(Standing.Waiting.class);
      fill(server);

      assertThatThrownBy(() -> seam.attempt(seam.claim("space")))
          .isInstanceOf(StoreException.class)
          .hasMessageContaining("defrag");
      assertThat(seam.renew(held)).isInstanceOf(Standing.Held.class);
      seam.withdraw(held);
      assertThat(seam.renew(waiting)).isInstanceOf(Standing.Held.class);
      assertThat(store.diagnose())
          .anySatisfy(
              finding -> {
                assertThat(finding.level()).isEqualTo(Level.PROBLEM);
                assertThat(finding.what()).contains("NOSPACE");
              });
    }
  }

  @Test
  void aServerOutOfSpaceTakesBackAClaimWhoseShortestHoldIsNotOver() {
    try (EtcdServer server = small();
        EtcdStore store = EtcdStore.connect(Urls.of(server))) {
      Seam seam = new Seam(store);
      Claim job = seam.claim("job").withMinHold(Duration.ofSeconds(5));
      long takenAt = System.nanoTime();
      seam.take(job);
      Claim waiting = seam.claim("job");
      assertThat(seam.attempt(waiting)).isInstanceOf(Standing.Waiting.class);
      fill(server);

      seam.withdraw(job);

      await()
          .atMost(20, TimeUnit.SECONDS)
          .until(() -> seam.renew(waiting) instanceof Standing.Held);
      assertThat(System.nanoTime() - takenAt).isGreaterThanOrEqualTo(job.minHold().toNanos());
      assertThat(seam.renew(job)).isEqualTo(Standing.GONE);
    }
  }

  @Test
  void aServerOutOfSpaceTakesBackAClaimWhoseAttemptWasNeverAnswered() {
    try (EtcdServer server = small();
        FaultProxy proxy = FaultProxy.before(server);
        EtcdStore store =
            EtcdStore.connect("etcd://" + proxy.host() + ":" + proxy.port() + "?timeout=1s");
        EtcdStore near = EtcdStore.connect(Urls.of(server))) {
      Seam seam = new Seam(store);
      Seam other = new Seam(near);
      seam.take(seam.claim("first"));
      Claim doubtful = seam.claim("space");
      proxy.dropReplies(1, AfterDrop.RESET, "/v3/kv/txn");
      assertThatThrownBy(() -> seam.attempt(doubtful))
          .isInstanceOf(StoreUnavailableException.class);
      proxy.heal();
      Claim waiting = other.claim("space");
      assertThat(other.attempt(waiting)).isInstanceOf(Standing.Waiting.class);
      fill(server);

      await()
          .atMost(20, TimeUnit.SECONDS)
          .ignoreException(StoreUnavailableException.class)
          .until(
              () -> {
                seam.withdraw(doubtful.asUnsettled());
                return true;
              });

      assertThat(other.renew(waiting)).isInstanceOf(Standing.Held.class);
    }
  }

  /** What it takes in is what the sockets hold, a few megabytes. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aServerThatTakesInNoBytesIsAnErrorWithinTheTimeout(boolean tls) {
    try (EtcdServer server =
            tls ? EtcdServer.startWithTls(Urls.QUICK) : EtcdServer.start(Urls.QUICK);
        EtcdFence fence =
            EtcdFence.connect(
                (tls ? trusted(server) + "&" : Urls.of(server) + "?") + "timeout=400ms")) {
      fence.accept("before", 1);
      server.pause();
      String large = "x".repeat(16 << 20);
      for (int i = 0; i < 5; i++) {
        CompletableFuture<Void> write =
            CompletableFuture.runAsync(() -> fence.write("large", large, 1))
                .orTimeout(20, TimeUnit.SECONDS);
        assertThatThrownBy(write::join).hasCauseInstanceOf(StoreUnavailableException.class);
      }
      server.resume();
      await()
          .atMost(20, TimeUnit.SECONDS)
          .ignoreException(StoreUnavailableException.class)
          .until(
              () -> {
                fence.accept("after", 1);
                return true;
              });
    }
  }

  static void protect(EtcdServer server) {
    server.post("/v3/auth/user/add", "{\"name\":\"root\",\"password\":\"r\"}");
    server.post("/v3/auth/role/add", "{\"name\":\"root\"}");
    server.post("/v3/auth/user/grant", "{\"user\":\"root\",\"role\":\"root\"}");
    server.post("/v3/auth/user/add", "{\"name\":\"app\",\"password\":\"" + CANARY + "\"}");
    server.post("/v3/auth/role/add", "{\"name\":\"locks\"}");
    server.post(
        "/v3/auth/role/grant",
        "{\"name\":\"locks\",\"perm\":{\"permType\":\"READWRITE\",\"key\":\""
            + base64("team/")
            + "\",\"range_end\":\""
            + base64("team0")
            + "\"}}");
    server.post("/v3/auth/user/grant", "{\"user\":\"app\",\"role\":\"locks\"}");
    server.post("/v3/auth/enable", "{}");
  }

  static String with(EtcdServer server, String user, String namespace) {
    return "etcd://" + user + "@" + server.host() + ":" + server.port() + "/" + namespace;
  }

  @Test
  void aUserWithTheRightsOfItsNamespaceHasLocksAndItsTokenIsRenewed() throws Exception {
    try (EtcdServer server =
        EtcdServer.start(
            "--auth-token-ttl=1", "--heartbeat-interval=20", "--election-timeout=200")) {
      protect(server);
      LockOptions options = LockOptions.defaults().lease(Duration.ofSeconds(30));
      try (Pawl pawl = Pawl.connect(with(server, "app:" + ENCODED, "team"));
          Pawl other = Pawl.connect(with(server, "app:" + ENCODED, "team/pawl"))) {
        long from = System.nanoTime();
        await()
            .atMost(20, TimeUnit.SECONDS)
            .pollInterval(Duration.ofMillis(1_700))
            .until(
                () -> {
                  pawl.lock("mine", options).acquire().close();
                  other.lock("mine", options).acquire().close();
                  return System.nanoTime() - from > 6_000_000_000L;
                });
        Lease lease = pawl.lock("mine").acquire();
        var next = pawl.lock("mine").tryAcquireAsync(Duration.ofSeconds(20));
        lease.close();
        next.get(20, TimeUnit.SECONDS).orElseThrow().close();
      }
    }
  }

  /** Clients have to know the password before etcd asks for it. */
  @Test
  void authenticationIsTurnedOnAndOffWhileClientsThatHaveAUserWork() {
    try (EtcdServer server = EtcdServer.start(Urls.QUICK);
        EtcdStore store = EtcdStore.connect(with(server, "app:" + ENCODED, "team"))) {
      Seam seam = new Seam(store);
      Claim held = seam.claim("held");
      seam.take(held);
      assertThat(store.diagnose())
          .anySatisfy(finding -> assertThat(finding.what()).contains("though a user is given"));

      for (int i = 0; i < 3; i++) {
        protect(server);
        seam.take(seam.claim("protected" + i));
        assertThat(seam.renew(held)).isInstanceOf(Standing.Held.class);
        assertThat(store.diagnose())
            .noneSatisfy(finding -> assertThat(finding.what()).contains("though a user is given"));

        String root =
            server.post("/v3/auth/authenticate", "{\"name\":\"root\",\"password\":\"r\"}");
        int at = root.indexOf("\"token\":\"") + 9;
        server.post("/v3/auth/disable", "{}", root.substring(at, root.indexOf('"', at)));
        seam.take(seam.claim("open" + i));
        assertThat(seam.renew(held)).isInstanceOf(Standing.Held.class);
      }
    }
  }

  @Test
  void aTokenThatIsRefusedTwiceInARowIsReplacedTwice() throws Exception {
    try (EtcdServer server = EtcdServer.start(Urls.QUICK);
        LateRequests between = new LateRequests(server)) {
      protect(server);
      String url = "etcd://app:" + ENCODED + "@127.0.0.1:" + between.port() + "/team";
      try (EtcdStore store = EtcdStore.connect(url)) {
        Seam seam = new Seam(store);
        seam.take(seam.claim("first"));

        between.refuseTokens(2);

        seam.take(seam.claim("second"));
      }
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {"200 | hello", "200 | {}", "503 | no server", "429 | {\"message\":\"limit\"}"})
  void aMemberWhoseAddressIsSomethingElsesIsAskedNoMoreForATokenEither(int status, String text)
      throws Exception {
    try (EtcdServer server = EtcdServer.start(Urls.QUICK);
        LateRequests member = new LateRequests(server)) {
      protect(server);
      member.becomes(status, text);
      String both = "127.0.0.1:" + member.port() + "," + server.host() + ":" + server.port();
      for (int i = 0; i < 8; i++) { // a client begins with either
        try (EtcdFence fence = EtcdFence.connect("etcd://app:" + ENCODED + "@" + both + "/team")) {
          await()
              .atMost(20, TimeUnit.SECONDS)
              .ignoreExceptionsInstanceOf(StoreException.class)
              .until(
                  () -> {
                    fence.accept("elsewhere", 1);
                    return true;
                  });
        }
      }
    }
  }

  /** How many keys begin with {@code prefix}, which ends in a slash. */
  private static long countOf(EtcdServer server, String prefix) {
    String end = prefix.substring(0, prefix.length() - 1) + '0';
    String answer =
        server.post(
            "/v3/kv/range",
            "{\"key\":\"" + base64(prefix) + "\",\"range_end\":\"" + base64(end) + "\"}");
    return Pattern.compile("\"create_revision\"").matcher(answer).results().count();
  }

  /** A stranger's cluster has locks of its own: what is held here is free there. */
  @Test
  void whoIsOfAnotherClusterIsNotBelieved() {
    try (EtcdServer one = EtcdServer.start(Urls.QUICK);
        EtcdServer other = EtcdServer.start(Urls.QUICK);
        EtcdStore store =
            EtcdStore.connect(
                Urls.of(one) + "," + other.host() + ":" + other.port() + "?timeout=1s")) {
      Seam seam = new Seam(store);
      seam.take(seam.claim("held"));
      boolean isOfOne = countOf(one, "pawl/claim/") > 0;
      (isOfOne ? one : other).kill();

      await()
          .atMost(20, TimeUnit.SECONDS)
          .untilAsserted(
              () ->
                  assertThatThrownBy(() -> seam.attempt(seam.claim("held")))
                      .isInstanceOf(StoreUnavailableException.class)
                      .hasMessageContaining("one cluster"));
      assertThat(countOf(isOfOne ? other : one, "pawl/claim/")).isZero();
    }
  }

  @Test
  void whoeverMayNotIsDeniedAndNoPasswordIsEverShown() {
    try (EtcdServer server = EtcdServer.start(Urls.QUICK)) {
      protect(server);
      List<String> messages = new ArrayList<>();
      for (String url :
          List.of(
              Urls.of(server),
              with(server, "app:wrong" + ENCODED, "team"),
              with(server, "nobody:" + ENCODED, "team"),
              with(server, "app:" + ENCODED, "elsewhere"))) {
        assertThatThrownBy(() -> EtcdStore.connect(url).close())
            .isInstanceOf(StoreDeniedException.class)
            .satisfies(error -> messages.add(String.valueOf(error.getMessage())));
      }
      assertThat(messages)
          .allSatisfy(
              message ->
                  assertThat(message).doesNotContain("c4n4ry").contains("user and password"));
    }
  }

  /**
   * The term of a cluster that begins anew is the same each time. The client brings the revision
   * past the one it saw before it asks for its lease again.
   */
  @Test
  void p6_someoneGetsIn_whatWasGivenBackSinceABackupRunsOutThoughItsClientGoesOn() {
    try (EtcdServer server = EtcdServer.start(Urls.QUICK);
        EtcdStore store = EtcdStore.connect(Urls.of(server));
        EtcdStore another = EtcdStore.connect(Urls.of(server))) {
      Duration lease = Duration.ofSeconds(10);
      Seam seam = new Seam(store);
      Claim past = seam.claim("past", Mode.EXCLUSIVE, lease);
      seam.take(past);
      Path backup = server.save();
      seam.withdraw(past);
      put(server, "other", "value");
      Claim last = seam.claim("other", Mode.EXCLUSIVE, lease);
      seam.take(last);
      seam.withdraw(last);
      server.restore(backup);
      for (int i = 0; i < 20; i++) {
        await()
            .pollDelay(Duration.ZERO)
            .ignoreException(StoreUnavailableException.class)
            .until(
                () -> {
                  Claim more = seam.claim("other", Mode.EXCLUSIVE, lease);
                  seam.attempt(more);
                  seam.withdraw(more);
                  return true;
                });
      }

      Seam other = new Seam(another);
      await()
          .atMost(40, TimeUnit.SECONDS)
          .ignoreException(StoreUnavailableException.class)
          .until(
              () -> {
                Claim busy = seam.claim("other", Mode.EXCLUSIVE, lease);
                seam.attempt(busy);
                seam.withdraw(busy);
                Claim next = other.claim("past", Mode.EXCLUSIVE, lease);
                boolean holds = other.attempt(next) instanceof Standing.Held;
                other.withdraw(next);
                return holds;
              });
    }
  }

  private static String trusted(EtcdServer server) {
    return "etcds://localhost:"
        + server.port()
        + "?trustPem="
        + server.certificates().certificatePem();
  }

  @Test
  void locksWorkOverTlsAndAStrangersCertificateIsRefused() throws Exception {
    try (EtcdServer server = EtcdServer.startWithTls(Urls.QUICK)) {
      String address = "etcds://localhost:" + server.port();
      try (Pawl pawl = Pawl.connect(trusted(server))) {
        Lease lease = pawl.lock("secret").acquire();
        var next = pawl.lock("secret").tryAcquireAsync(Duration.ofSeconds(20));
        lease.close();
        next.get(20, TimeUnit.SECONDS).orElseThrow().close();
      }
      // A store of the server's own key is trusted for the certificate in it.
      String pair =
          "?trustStore="
              + server.certificates().keyStore()
              + "&trustStorePassword="
              + Certificates.STORE_PASSWORD;
      EtcdStore.connect(address + pair).close();
      assertThatThrownBy(() -> EtcdStore.connect(address).close())
          .isInstanceOf(StoreException.class)
          .hasMessageContaining("TLS");
      assertThatThrownBy(() -> EtcdStore.connect(Urls.of(server) + "?timeout=500ms").close())
          .isInstanceOf(StoreException.class);
    }
  }

  @Test
  void theDoctorFindsAHealthyServerHealthy() {
    try (EtcdServer server = EtcdServer.start(Urls.QUICK);
        EtcdStore store = EtcdStore.connect(Urls.of(server))) {
      List<Finding> findings = store.diagnose();
      assertThat(findings).noneMatch(finding -> finding.level() == Level.PROBLEM);
      assertThat(findings)
          .anyMatch(finding -> finding.what().contains("shortest lease of etcd's is 1 s"))
          .anyMatch(finding -> finding.what().contains("quota"));
    }
  }

  @Test
  void nothingIsKeptAliveOnceNobodySpeaksOfIt() {
    try (EtcdServer server = EtcdServer.start(Urls.QUICK)) {
      try (EtcdStore store = EtcdStore.connect(Urls.of(server))) {
        Seam seam = new Seam(store);
        List<CompletableFuture<Standing>> answers = new CopyOnWriteArrayList<>();
        for (int i = 0; i < 50; i++) {
          Claim claim = seam.claim("left" + i);
          answers.add(store.attempt(claim, standing -> {}).toCompletableFuture());
        }
        answers.forEach(Seam::answer);
        for (int i = 0; i < 10; i++) {
          Claim claim = seam.claim("given" + i);
          seam.take(claim);
          seam.withdraw(claim);
        }
      }
      String leases = server.post("/v3/lease/leases", "{}");
      try (EtcdStore store = EtcdStore.connect(Urls.of(server))) {
        assertThat(Seam.answer(store.list(100))).as("left to run out: %s", leases).hasSize(50);
        assertThat(Seam.answer(store.show("given1")).orElseThrow().holders()).isEmpty();
      }
    }
  }
}
