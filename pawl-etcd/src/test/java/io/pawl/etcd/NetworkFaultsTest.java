package io.pawl.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.error.StoreException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.etcd.gateway.Failures;
import io.pawl.options.LockOptions;
import io.pawl.servers.Direction;
import io.pawl.servers.EtcdServer;
import io.pawl.servers.FaultProxy;
import io.pawl.servers.FaultProxy.AfterDrop;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Inspectable.LockView;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a network can do to requests, replies and bells. */
class NetworkFaultsTest {

  private final EtcdServer server = EtcdServer.start(Urls.QUICK);
  private final FaultProxy proxy = FaultProxy.before(server);
  private final String url = "etcd://" + proxy.host() + ":" + proxy.port() + "?timeout=1s";
  private final EtcdStore store = EtcdStore.connect(url);
  private final Seam seam = new Seam(store);
  private final EtcdStore near = EtcdStore.connect(Urls.of(server));
  private final Seam other = new Seam(near);

  @AfterEach
  void close() {
    store.close();
    near.close();
    proxy.close();
    server.close();
  }

  private static void untilItAnswers(Runnable verb) {
    await()
        .atMost(20, TimeUnit.SECONDS)
        .ignoreExceptionsInstanceOf(StoreException.class)
        .until(
            () -> {
              verb.run();
              return true;
            });
  }

  /** So that the next request is the transaction itself. */
  private void warmUp() {
    Claim claim = seam.claim("warm");
    seam.take(claim);
    seam.withdraw(claim);
  }

  @ParameterizedTest
  @EnumSource
  void anAcquireWhoseReplyWasDroppedIsHeldByItsRetry(AfterDrop then) {
    warmUp();
    Claim claim = seam.claim("dropped");
    proxy.dropReplies(1, then, "/v3/kv/txn");
    assertThatThrownBy(() -> seam.attempt(claim)).isInstanceOf(StoreUnavailableException.class);
    assertThat(other.attempt(other.claim("dropped"))).isInstanceOf(Standing.Waiting.class);
    proxy.heal();

    untilItAnswers(() -> seam.take(claim));

    assertThat(seam.renew(claim)).isEqualTo(seam.take(claim));
  }

  @Test
  void anAcquireWhoseReplyWasDroppedAndThatIsGivenUpLeavesNothing() {
    warmUp();
    Claim claim = seam.claim("givenUp");
    proxy.dropReplies(1, AfterDrop.RESET, "/v3/kv/txn");
    assertThatThrownBy(() -> seam.attempt(claim)).isInstanceOf(StoreUnavailableException.class);
    proxy.heal();

    untilItAnswers(() -> seam.withdraw(claim.asUnsettled()));

    other.take(other.claim("givenUp"));
    assertThat(seam.attempt(claim)).isEqualTo(Standing.GONE);
  }

  @Test
  void aReleaseWhoseReplyWasDroppedLeavesALaterHoldAlone() {
    warmUp();
    Claim first = seam.claim("release");
    seam.take(first);
    proxy.dropReplies(1, AfterDrop.RESET, "/v3/kv/txn");
    assertThatThrownBy(() -> seam.withdraw(first)).isInstanceOf(StoreUnavailableException.class);
    Claim second = other.claim("release");
    Standing.Held held = other.take(second);

    untilItAnswers(() -> seam.withdraw(first));

    assertThat(other.renew(second)).isEqualTo(held);
  }

  @Test
  void aWithdrawalThatCouldNotBeSentIsMadeUpForOnceTheNetworkIsBack() {
    Claim claim = seam.claim("owed");
    seam.take(claim);
    proxy.blackHole(Direction.TO_SERVER);
    assertThatThrownBy(() -> seam.withdraw(claim)).isInstanceOf(StoreUnavailableException.class);
    Claim next = other.claim("owed");
    assertThat(other.attempt(next)).isInstanceOf(Standing.Waiting.class);

    proxy.heal();

    await().atMost(10, TimeUnit.SECONDS).until(() -> other.renew(next) instanceof Standing.Held);
  }

  @Test
  void anAttemptThatArrivesAfterTheWithdrawalTakesNothing() {
    Claim claim = seam.claim("late");
    Seam.answer(near.withdraw(claim.asUnsettled())); // on another way, which is faster

    assertThat(seam.attempt(claim)).isEqualTo(Standing.GONE);

    other.take(other.claim("late"));
  }

  @Test
  void anAttemptThatArrivesWhenItsWithdrawalIsForgottenTakesNothing() throws Exception {
    try (LateRequests member = new LateRequests(server);
        EtcdStore through = EtcdStore.connect(member.url())) {
      Seam here = new Seam(through);
      here.take(here.claim("kept")); // whose lease is kept alive all the time
      Claim claim = here.claim("late");
      member.keepBack();
      assertThatThrownBy(() -> here.attempt(claim)).isInstanceOf(StoreUnavailableException.class);
      member.goOn();
      untilItAnswers(() -> here.withdraw(claim.asUnsettled()));
      ServerFaultsTest.deleteAll(server, "pawl/withdrawn/");

      assertThat(member.passOn()).isNotEmpty().noneMatch(answer -> answer.contains("response_put"));

      other.take(other.claim("late"));
      here.take(here.claim("afterwards"));
    }
  }

  @Test
  void aSilentServerIsAnErrorWithinTheTimeoutsAndNeverBusy() {
    warmUp();
    proxy.blackHole(Direction.TO_SERVER);
    assertThatThrownBy(() -> seam.attempt(seam.claim("silent")))
        .isInstanceOf(StoreUnavailableException.class);
    proxy.heal();
    untilItAnswers(() -> seam.take(seam.claim("silentToo")));
  }

  /**
   * They may be answered by a member that lives, while one's own request went to one that does not.
   */
  @Test
  void thatOthersAreAnsweredIsNoReasonToWaitLongerForOnesOwnAnswer() {
    warmUp();
    assertThat(store.servesOthers()).isFalse();
  }

  @Test
  void manyAttemptsOnOneLockEndInTimeThoughEtcdStandsStill() throws Exception {
    warmUp();
    server.pause();
    List<Claim> claims = new ArrayList<>();
    List<CompletableFuture<?>> answers = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      Claim claim = seam.claim("still");
      claims.add(claim);
      answers.add(
          store
              .attempt(claim, standing -> {})
              .toCompletableFuture()
              .handle(
                  (standing, error) ->
                      assertThat(Failures.cause(error))
                          .isInstanceOf(StoreUnavailableException.class)));
    }
    CompletableFuture.allOf(answers.toArray(CompletableFuture[]::new)).get(20, TimeUnit.SECONDS);
    server.resume();

    untilItAnswers(() -> seam.withdraw(claims.get(0).asUnsettled()));
    claims.stream().map(claim -> store.withdraw(claim.asUnsettled())).forEach(Seam::answer);
    other.take(other.claim("still"));
  }

  /** Whoever is told that it has gone takes the lock for busy; a hold that came too late is not. */
  @Test
  void p6_someoneGetsIn_aClientThatWaitsForAnAnswerIsNotSilent() {
    Duration lease = Duration.ofMillis(100);
    try (EtcdStore slow = EtcdStore.connect("etcd://" + proxy.host() + ":" + proxy.port())) {
      Seam brief = new Seam(slow);
      brief.attempt(brief.claim("warm", Mode.EXCLUSIVE, lease));
      proxy.delay(Direction.TO_CLIENT, lease.multipliedBy(4));

      Claim impatient = brief.claim("free", Mode.EXCLUSIVE, lease).as(Mode.EXCLUSIVE);

      assertThat(brief.attempt(impatient)).isInstanceOf(Standing.Held.class);
    }
  }

  @Test
  void aListOfThousandsOfLocksDelaysNoKeepAlive() throws Exception {
    int many = 3_000;
    List<CompletableFuture<Standing>> taken = new ArrayList<>();
    for (int i = 0; i < many; i++) {
      taken.add(near.attempt(other.claim("many" + i), standing -> {}).toCompletableFuture());
      if (i % 300 == 299) {
        taken.forEach(Seam::answer);
      }
    }
    proxy.delay(Direction.TO_CLIENT, Duration.ofMillis(20));
    Claim brief = seam.claim("brief", Mode.EXCLUSIVE, Duration.ofSeconds(2));
    Standing.Held held = seam.take(brief);
    CompletableFuture<List<LockView>> list = store.list(10_000).toCompletableFuture();

    do {
      assertThat(seam.renew(brief)).isEqualTo(held);
    } while (!list.isDone());

    assertThat(list.join()).hasSize(many + 1);
  }

  @Test
  void aLockThatManyClientsWaitForIsShownOverASlowNetwork() {
    Claim held = other.claim("shown");
    other.take(held);
    String key = new Keys("pawl").claims("shown") + "x/";
    String of = "{\"key\":\"" + ServerFaultsTest.base64(key + held.id()) + "\"}";
    Matcher value =
        Pattern.compile("\"value\":\"([^\"]+)\"").matcher(server.post("/v3/kv/range", of));
    assertThat(value.find()).isTrue();
    for (int i = 1; i < 50; i++) {
      server.post("/v3/lease/grant", "{\"TTL\":\"100\",\"ID\":\"" + i + "\"}");
      String waits = "\"key\":\"" + ServerFaultsTest.base64(key + "other." + i) + "\"";
      server.post("/v3/kv/put", "{" + waits + "," + value.group() + ",\"lease\":\"" + i + "\"}");
    }
    proxy.delay(Direction.TO_CLIENT, Duration.ofMillis(100));

    LockView shown = Seam.answer(store.show("shown")).orElseThrow();

    assertThat(shown.holders()).hasSize(1);
    assertThat(shown.waiters()).hasSize(49);
  }

  @Test
  void aFenceDoesNotCallEtcdSilentWhereItsOwnThreadsAreTooMany() throws Exception {
    proxy.delay(Direction.TO_CLIENT, Duration.ofMillis(100));
    ExecutorService threads = Executors.newFixedThreadPool(60);
    List<Throwable> failures = new CopyOnWriteArrayList<>();
    try (EtcdFence fence = EtcdFence.connect(url)) {
      CompletableFuture<?>[] writes = new CompletableFuture<?>[60];
      for (int i = 0; i < writes.length; i++) {
        writes[i] =
            CompletableFuture.runAsync(() -> fence.accept("shared", 7), threads)
                .exceptionally(
                    error -> {
                      failures.add(Failures.cause(error));
                      return null;
                    });
      }
      CompletableFuture.allOf(writes).get(60, TimeUnit.SECONDS);
    } finally {
      threads.shutdownNow();
    }
    assertThat(failures)
        .isNotEmpty()
        .allSatisfy(
            error -> {
              assertThat(error).isInstanceOf(StoreUnavailableException.class);
              assertThat(error).hasMessageContaining("other threads");
            });
  }

  @Test
  void p6_someoneGetsIn_aWaiterIsServedThoughEveryWatchIsSilent() throws Exception {
    LockOptions options = LockOptions.defaults().lease(Duration.ofSeconds(5));
    try (Pawl waiting = Pawl.connect(url);
        Pawl holding = Pawl.connect(Urls.of(server))) {
      Lease lease = holding.lock("watch", options).acquire();
      CompletableFuture<Optional<Lease>> next =
          waiting.lock("watch", options).tryAcquireAsync(Duration.ofSeconds(20));
      await().until(() -> holding.inspect("watch").waiters().size() == 1);
      proxy.dropReplies(1_000, AfterDrop.SILENCE, "/v3/watch");
      lease.close();

      next.get(20, TimeUnit.SECONDS).orElseThrow().close();
    }
  }

  /** Who joins a long queue that it follows by a watch reads nothing, and each wait is short. */
  @Test
  void p6_someoneGetsIn_aFreeLockIsNotBusyForEverWhereItsLongQueueHasEndedUnheard() {
    List<Claim> queue = new ArrayList<>();
    for (int i = 0; i < 17; i++) {
      queue.add(other.claim("deaf"));
      other.attempt(queue.get(i));
    }
    Claim mirrors = seam.claim("deaf");
    assertThat(seam.attempt(mirrors)).isInstanceOf(Standing.Waiting.class);
    await().atMost(20, TimeUnit.SECONDS).until(() -> store.lengthOf("deaf") == 18);
    proxy.dropReplies(1_000, AfterDrop.SILENCE, "/v3/watch");
    queue.forEach(other::withdraw);
    seam.withdraw(mirrors);

    await()
        .atMost(20, TimeUnit.SECONDS)
        .pollInterval(Duration.ofMillis(200))
        .until(
            () -> {
              Claim claim = seam.claim("deaf");
              Standing standing = seam.attempt(claim);
              seam.withdraw(claim);
              return standing instanceof Standing.Held;
            });
  }

  /** They travel together as one transaction, in which the question comes first. */
  @Test
  void p6_someoneGetsIn_aBellRingsForAReleaseThatTravelsWithTheWaitersQuestion() {
    proxy.delay(Direction.TO_SERVER, Duration.ofMillis(30));
    for (int i = 0; i < 30; i++) {
      Claim holds = seam.claim("together");
      Claim waits = seam.claim("together");
      CompletableFuture<Standing> bell = new CompletableFuture<>();
      seam.take(holds);
      assertThat(seam.attempt(waits, bell::complete)).isInstanceOf(Standing.Waiting.class);
      for (int connection = 0; connection < 4; connection++) {
        store.withdraw(seam.claim("busy" + connection));
      }
      CompletionStage<Map<ClaimId, Standing>> question = store.renew(List.of(waits));
      seam.withdraw(holds);

      if (Seam.answer(question).get(waits.id()) instanceof Standing.Waiting) {
        await().atMost(20, TimeUnit.SECONDS).until(bell::isDone);
      }
      seam.withdraw(waits);
    }
  }

  @Test
  void aServerThatClosesConnectionsBehindItsAnswersIsNoFault() throws Exception {
    try (LateRequests member = new LateRequests(server);
        EtcdStore through = EtcdStore.connect(member.url())) {
      Seam here = new Seam(through);
      member.closeConnections();
      for (int i = 0; i < 20; i++) {
        Claim claim = here.claim("closing");
        here.take(claim);
        here.withdraw(claim);
      }
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "200 | hello",
        "200 | {\"header\":{\"cluster_id\":\"mine\"}}",
        "404 | {\"status\":404,\"error\":\"Not Found\",\"path\":\"/v3/kv/txn\"}",
        "403 | {\"code\":403,\"message\":\"no\"}",
        "429 | {\"message\":\"API rate limit exceeded\"}",
        "404 | {\"code\":5,\"message\":\"Not Found\",\"details\":[]}",
        "401 | {\"code\":16,\"message\":\"no token\"}"
      })
  void aMemberWhoseAddressIsSomethingElsesIsAskedNoMore(int status, String text) throws Exception {
    for (int i = 0; i < 8; i++) { // a client begins with either
      try (LateRequests member = new LateRequests(server);
          EtcdStore through = EtcdStore.connect(besideTheServer(member))) {
        Seam here = new Seam(through);
        member.becomes(status, text);
        untilItAnswers(() -> here.withdraw(here.claim("elsewhere")));
      }
    }
  }

  private String besideTheServer(LateRequests member) {
    return "etcd://127.0.0.1:" + member.port() + "," + server.host() + ":" + server.port();
  }

  /** An address at which nobody accepts: the system drops what comes when its queue is full. */
  @Test
  void p8_nothingLeftBehind_aConnectionInTheMakingEndsWithItsClient() throws Exception {
    List<Socket> queue = new ArrayList<>();
    try (ServerSocket full = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      await().atMost(20, TimeUnit.SECONDS).until(() -> !reaches(full, queue));
      Set<Thread> before = threads();
      EtcdFence fence =
          EtcdFence.connect("etcd://127.0.0.1:" + full.getLocalPort() + "?timeout=1m");
      CompletableFuture<?> write = CompletableFuture.runAsync(() -> fence.write("key", "value", 1));
      await().atMost(20, TimeUnit.SECONDS).until(() -> !before.containsAll(threads()));

      fence.close();

      await().atMost(5, TimeUnit.SECONDS).until(() -> before.containsAll(threads()));
      assertThatThrownBy(write::join).hasCauseInstanceOf(StoreUnavailableException.class);
    } finally {
      for (Socket each : queue) {
        each.close();
      }
    }
  }

  private static boolean reaches(ServerSocket server, List<Socket> queue) {
    Socket socket = new Socket();
    queue.add(socket);
    try {
      socket.connect(server.getLocalSocketAddress(), 300);
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  private static Set<Thread> threads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().startsWith("pawl-etcd-"))
        .collect(Collectors.toSet());
  }

  /** An answer without a header says nothing, though it is JSON. */
  @Test
  void aMemberWhoseAddressIsSomethingElsesTakesNothingBack() throws Exception {
    for (int i = 0; i < 8; i++) { // a client begins with either
      try (LateRequests member = new LateRequests(server);
          EtcdStore through = EtcdStore.connect(besideTheServer(member))) {
        Seam here = new Seam(through);
        Claim held = here.claim("elsewhere");
        here.take(held);
        member.becomes(200, "{}");
        untilItAnswers(() -> here.withdraw(held));

        Claim next = other.claim("elsewhere");
        other.take(next);
        other.withdraw(next);
      }
    }
  }

  @Test
  void aBalancerWithoutAMemberIsNoMistakeInTheConfigurationOfTls() throws Exception {
    try (EtcdServer secure = EtcdServer.startWithTls(Urls.QUICK);
        FaultProxy balancer = FaultProxy.before(secure);
        EtcdStore through =
            EtcdStore.connect(
                "etcds://localhost:"
                    + balancer.port()
                    + "?timeout=1s&trustPem="
                    + secure.certificates().certificatePem())) {
      Seam here = new Seam(through);
      balancer.refuse();
      balancer.reset();
      try (ServerSocket closing = new ServerSocket()) {
        closing.setReuseAddress(true);
        closing.bind(new InetSocketAddress(balancer.host(), balancer.port()));
        Thread accepts = new Thread(() -> closeEach(closing));
        accepts.start();
        for (int i = 0; i < 3; i++) {
          assertThatThrownBy(() -> here.attempt(here.claim("balanced")))
              .isInstanceOf(StoreUnavailableException.class);
        }
        closing.close();
        accepts.join();
      }
      balancer.heal();
      untilItAnswers(() -> here.take(here.claim("afterwards")));
    }
  }

  private static void closeEach(ServerSocket server) {
    byte[] hello = new byte[16_384];
    while (!server.isClosed()) {
      try (Socket client = server.accept()) {
        if (client.getInputStream().read(hello) < 0) {
          throw new IOException("nothing was said");
        }
      } catch (IOException e) {
        // the next one follows, unless this is the end
      }
    }
  }

  @Test
  void aClusterWhoseRevisionWentBackIsNotAskedWithoutEnd() throws Exception {
    try (EtcdServer restored = EtcdServer.start(Urls.QUICK);
        EtcdStore there = EtcdStore.connect(Urls.of(restored))) {
      for (int i = 0; i < 1_500; i++) {
        ServerFaultsTest.put(server, "other", "value");
      }
      List<Claim> queue = new ArrayList<>();
      List<CompletableFuture<Standing>> bells = new ArrayList<>();
      Claim first = other.claim("back");
      other.take(first);
      for (int i = 0; i < 4; i++) {
        Claim claim = seam.claim("back");
        CompletableFuture<Standing> bell = new CompletableFuture<>();
        assertThat(seam.attempt(claim, bell::complete)).isInstanceOf(Standing.Waiting.class);
        queue.add(claim);
        bells.add(bell);
      }
      other.withdraw(first);
      for (int i = 0; i < 3; i++) {
        await().atMost(20, TimeUnit.SECONDS).until(bells.get(i)::isDone);
        seam.withdraw(queue.get(i));
      }
      proxy.leadTo(restored);
      proxy.reset();
      Seam after = new Seam(there);
      after.take(after.claim("back"));
      Claim waits = seam.claim("back");
      untilItAnswers(() -> assertThat(seam.attempt(waits)).isInstanceOf(Standing.Waiting.class));

      long asked = TripsTest.served(restored, "Txn");
      for (int i = 0; i < 200; i++) {
        Claim claim = after.claim("busy");
        after.take(claim);
        after.withdraw(claim);
      }

      assertThat(TripsTest.served(restored, "Txn") - asked).isLessThan(2 * 200 + 100);
    }
  }

  /** The last one of a client that is led to a cluster with less history. */
  private long tokenBeforeTheRevisionWentBack(EtcdServer restored) throws Exception {
    for (int i = 0; i < 1_500; i++) {
      ServerFaultsTest.put(server, "other", "value");
    }
    Claim before = seam.claim("before");
    long last = seam.take(before).lastToken();
    seam.withdraw(before);
    proxy.leadTo(restored);
    proxy.reset();
    return last;
  }

  @Test
  void p2_tokensOnlyGrow_aFloorIsPassedByTheNextTryWhereTheRevisionWentBack() throws Exception {
    try (EtcdServer restored = EtcdServer.start(Urls.QUICK)) {
      long floor = tokenBeforeTheRevisionWentBack(restored);

      untilItAnswers(
          () -> {
            Claim after = seam.claimAbove("floor", floor);
            try {
              assertThat(seam.take(after).token()).isGreaterThan(floor);
            } finally {
              seam.withdraw(after.asUnsettled());
            }
          });
    }
  }

  @Test
  void p2_tokensOnlyGrow_aClaimBelowItsFloorIsNoHoldThoughItsReplyWasLost() throws Exception {
    try (EtcdServer restored = EtcdServer.start(Urls.QUICK)) {
      long floor = tokenBeforeTheRevisionWentBack(restored);
      untilItAnswers(this::warmUp);
      Claim after = seam.claimAbove("floor", floor);
      proxy.dropReplies(1, AfterDrop.RESET, "/v3/kv/txn");
      assertThatThrownBy(() -> seam.attempt(after)).isInstanceOf(StoreUnavailableException.class);
      proxy.heal();

      await()
          .ignoreExceptionsInstanceOf(StoreUnavailableException.class)
          .untilAsserted(
              () ->
                  assertThatThrownBy(() -> seam.attempt(after)).hasMessageContaining("went back"));
    }
  }

  /** The server stands still until all is asked, however long that takes. */
  @Test
  void transactionsTravelTogetherOnlyAsFarAsEtcdTakesThem() throws Exception {
    try (EtcdStore patient = EtcdStore.connect(Urls.of(server) + "?timeout=20s")) {
      Seam client = new Seam(patient);
      List<Claim> held = new ArrayList<>();
      for (int i = 0; i < 100; i++) {
        Claim claim = client.claim("held" + i);
        client.take(claim);
        held.add(claim);
      }
      long before = TripsTest.served(server, "Txn");
      List<CompletableFuture<?>> answers = new ArrayList<>();
      server.pause();
      for (int i = 0; i < 310; i++) {
        if (i % 31 == 0) {
          answers.add(patient.renew(held).toCompletableFuture());
        }
        answers.add(patient.withdraw(client.claim("other" + i)).toCompletableFuture());
      }
      server.resume();
      answers.forEach(Seam::answer);

      assertThat(TripsTest.served(server, "Txn") - before).isLessThan(100);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aConnectionThatEndedWhileItWasIdleLosesNoRequest(boolean tls) {
    try (EtcdServer restarted =
            tls ? EtcdServer.startWithTls(Urls.QUICK) : EtcdServer.start(Urls.QUICK);
        EtcdFence fence =
            EtcdFence.connect(
                tls
                    ? "etcds://localhost:"
                        + restarted.port()
                        + "?trustPem="
                        + restarted.certificates().certificatePem()
                    : Urls.of(restarted))) {
      for (int token = 1; token < 4; token++) {
        fence.write("idle", "value", token);
        restarted.kill();
        restarted.restart();
      }
      fence.write("idle", "value", 4);
    }
  }

  @Test
  void p1_oneHolder_aHolderWhoseNetworkIsCutLosesItsLeaseBeforeAnotherHasIt() throws Exception {
    LockOptions options = LockOptions.defaults().lease(Duration.ofSeconds(1));
    try (Pawl cut = Pawl.connect(url);
        Pawl next = Pawl.connect(Urls.of(server))) {
      Lease lease = cut.lock("cut", options).acquire();
      List<Boolean> validAtTheGrant = new ArrayList<>();
      proxy.cut();

      try (Lease second = next.lock("cut", options).acquire()) {
        validAtTheGrant.add(lease.isValid());
        assertThat(second.token()).isGreaterThan(lease.token());
      }

      assertThat(validAtTheGrant).containsExactly(false);
      proxy.heal();
      untilItAnswers(() -> cut.lock("afterwards", options).tryAcquire().orElseThrow().close());
    }
  }
}
