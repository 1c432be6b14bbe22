package io.pawl.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.options.LockOptions;
import io.pawl.servers.EtcdServer;
import io.pawl.spi.Bell;
import io.pawl.spi.Claim;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What locks cost, counted by the server: each write is a revision, each request a line. */
class TripsTest {

  private static final int CYCLES = 200;

  private static EtcdServer server;

  @BeforeAll
  static void start() {
    server = EtcdServer.start(Urls.QUICK);
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  private static long served(String method) throws Exception {
    return served(server, method);
  }

  /** How many requests of a kind a server has served. */
  static long served(EtcdServer server, String method) throws Exception {
    return metrics(server)
        .filter(
            line ->
                line.startsWith("grpc_server_started_total")
                    && line.contains("grpc_method=\"" + method + "\""))
        .mapToLong(TripsTest::numberOf)
        .sum();
  }

  /** The sum of what begins so. */
  private static long sum(String metric) throws Exception {
    return metrics(server)
        .filter(line -> line.startsWith(metric))
        .mapToLong(TripsTest::numberOf)
        .sum();
  }

  private static Stream<String> metrics(EtcdServer server) throws Exception {
    java.net.http.HttpClient http = java.net.http.HttpClient.newHttpClient();
    return http.send(
            java.net.http.HttpRequest.newBuilder(
                    java.net.URI.create(server.endpoint() + "/metrics"))
                .build(),
            java.net.http.HttpResponse.BodyHandlers.ofString())
        .body()
        .lines();
  }

  private static long numberOf(String line) {
    return (long) Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1));
  }

  @Test
  void aFreeCycleIsTwoTransactions() throws Exception {
    try (Pawl pawl = Pawl.connect(Urls.of(server))) {
      var lock = pawl.lock("free", LockOptions.defaults().lease(Duration.ofSeconds(30)));
      lock.acquire().close();
      long before = served("Txn");
      long grants = served("LeaseGrant");
      for (int i = 0; i < CYCLES; i++) {
        try (Lease lease = lock.acquire()) {
          assertThat(lease.isValid()).isTrue();
        }
      }
      assertThat(served("Txn") - before).isEqualTo(2L * CYCLES);
      assertThat(served("LeaseGrant")).isEqualTo(grants);
      assertThat(served("Range")).as("one for each keep-alive").isLessThan(CYCLES / 4);
    }
  }

  @Test
  void aLockThatWasFreeIsTakenWithoutALookAtItsQueue() throws Exception {
    try (EtcdStore store = EtcdStore.connect(Urls.of(server))) {
      Seam seam = new Seam(store);
      freeCycle(seam, "unlooked");
      long before = sum("etcd_debugging_mvcc_range_total ");

      for (int i = 0; i < CYCLES; i++) {
        freeCycle(seam, "unlooked");
      }

      // five comparisons to take it, one to give it back; keep-alives read as well
      assertThat(sum("etcd_debugging_mvcc_range_total ") - before)
          .isLessThanOrEqualTo(6L * CYCLES + CYCLES / 4);
    }
  }

  private static void freeCycle(Seam seam, String lock) {
    Claim claim = seam.claim(lock);
    seam.take(claim);
    seam.withdraw(claim);
  }

  @Test
  void whoeverFindsSomebodyWhereNobodyWasQueuesWithOneTripMore() throws Exception {
    try (EtcdStore store = EtcdStore.connect(Urls.of(server));
        EtcdStore holder = EtcdStore.connect(Urls.of(server))) {
      Seam seam = new Seam(store);
      Seam holding = new Seam(holder);
      freeCycle(seam, "nobody");
      Claim first = holding.claim("nobody");
      holding.take(first);
      long before = served("Txn");
      CompletableFuture<Standing> bell = new CompletableFuture<>();

      assertThat(seam.attempt(seam.claim("nobody"), (Bell) bell::complete))
          .isInstanceOf(Standing.Waiting.class);
      await().atMost(20, TimeUnit.SECONDS).until(() -> store.lengthOf("nobody") == 2);
      assertThat(served("Txn") - before).as("the queue is read once to follow it").isEqualTo(3);
      assertThat(seam.attempt(seam.claim("nobody"))).isInstanceOf(Standing.Waiting.class);
      assertThat(served("Txn") - before).isEqualTo(4);

      holding.withdraw(first);
      assertThat(bell.get(20, TimeUnit.SECONDS)).isInstanceOf(Standing.Held.class);
    }
  }

  @Test
  void whoeverWaitsForAnAnswerCarriesTheRequest() {
    try (EtcdStore store = EtcdStore.connect(Urls.of(server))) {
      Seam seam = new Seam(store);
      freeCycle(seam, "carried");
      AtomicReference<CompletionStage<Standing>> answer = new AtomicReference<>();

      store.awaited(() -> answer.set(store.attempt(seam.claim("carried"), standing -> {})));

      assertThat(answer.get().toCompletableFuture()).isCompleted();
    }
  }

  /** Else a burst of releases keeps etcd, and the renewals behind it, busy for seconds. */
  @Test
  void p6_someoneGetsIn_aReleaseOfPermitsIsLookedAtOnceHoweverManyWaitForSome() throws Exception {
    int many = 40;
    Duration lease = Duration.ofSeconds(30);
    try (EtcdStore store = EtcdStore.connect(Urls.of(server));
        EtcdStore holder = EtcdStore.connect(Urls.of(server))) {
      Seam seam = new Seam(store);
      Seam holding = new Seam(holder);
      List<Claim> held = new ArrayList<>();
      List<CompletableFuture<Standing>> rung = new ArrayList<>();
      for (int i = 0; i < many; i++) {
        held.add(holding.claim("permits", new Mode.Permits(1, many), lease));
        holding.take(held.get(i));
      }
      for (int i = 0; i < many; i++) {
        CompletableFuture<Standing> bell = new CompletableFuture<>();
        Claim claim = seam.claim("permits", new Mode.Permits(1, many), lease);
        assertThat(seam.attempt(claim, bell::complete)).isInstanceOf(Standing.Waiting.class);
        rung.add(bell);
      }
      long before = sum("etcd_debugging_mvcc_range_total ");

      held.forEach(holding::withdraw);
      for (CompletableFuture<Standing> bell : rung) {
        assertThat(bell.get(20, TimeUnit.SECONDS)).isInstanceOf(Standing.Held.class);
      }

      // a comparison each, two reads for each look, and keep-alives
      assertThat(sum("etcd_debugging_mvcc_range_total ") - before).isLessThan(6L * many);
    }
  }

  @Test
  void aHandOffCostsTheSameHoweverManyWait() throws Exception {
    try (EtcdStore store = EtcdStore.connect(Urls.of(server));
        EtcdStore holder = EtcdStore.connect(Urls.of(server))) {
      Seam seam = new Seam(store);
      Seam holding = new Seam(holder);
      Claim first = holding.claim("line");
      holding.take(first);
      List<Claim> line = new ArrayList<>();
      List<CompletableFuture<Standing>> rung = new ArrayList<>();
      for (int i = 0; i < 100; i++) {
        CompletableFuture<Standing> bell = new CompletableFuture<>();
        Claim claim = seam.claim("line", Mode.EXCLUSIVE, Duration.ofMinutes(1));
        assertThat(seam.attempt(claim, (Bell) bell::complete)).isInstanceOf(Standing.Waiting.class);
        line.add(claim);
        rung.add(bell);
      }
      long before = served("Txn");

      holding.withdraw(first);
      for (int i = 0; i < line.size(); i++) {
        assertThat(rung.get(i).get(20, TimeUnit.SECONDS)).isInstanceOf(Standing.Held.class);
        seam.withdraw(line.get(i));
      }

      // a withdrawal; the watch tells the rest
      assertThat(served("Txn") - before).isLessThanOrEqualTo(line.size() + 10);
    }
  }

  @Test
  void whoeverWaitsInOneQueueIsAskedForWithOneLookAtIt() throws Exception {
    try (EtcdStore store = EtcdStore.connect(Urls.of(server));
        EtcdStore holder = EtcdStore.connect(Urls.of(server))) {
      Seam holding = new Seam(holder);
      holding.take(holding.claim("asked"));
      Seam seam = new Seam(store);
      List<Claim> line = new ArrayList<>();
      for (int i = 0; i < 50; i++) {
        Claim claim = seam.claim("asked", Mode.EXCLUSIVE, Duration.ofMinutes(1));
        assertThat(seam.attempt(claim)).isInstanceOf(Standing.Waiting.class);
        line.add(claim);
      }
      long before = sum("etcd_debugging_mvcc_range_total ");

      assertThat(Seam.answer(store.renew(line)).values())
          .hasSize(line.size())
          .allMatch(standing -> standing instanceof Standing.Waiting);

      // each claim's own key, and the two ends of the queue; keep-alives read as well
      assertThat(sum("etcd_debugging_mvcc_range_total ") - before)
          .isLessThanOrEqualTo(line.size() + 20);
    }
  }

  @Test
  void aGrantNamesTheClaimsOfItsClientThatStandDirectlyBehindIt() throws Exception {
    try (EtcdStore store = EtcdStore.connect(Urls.of(server));
        EtcdStore holder = EtcdStore.connect(Urls.of(server))) {
      Seam holding = new Seam(holder);
      Seam seam = new Seam(store);
      Claim first = holding.claim("block");
      holding.take(first);
      List<CompletableFuture<Standing>> rung = new ArrayList<>();
      List<Claim> line = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        CompletableFuture<Standing> bell = new CompletableFuture<>();
        Claim claim = seam.claimOfMany("block");
        assertThat(seam.attempt(claim, (Bell) bell::complete)).isInstanceOf(Standing.Waiting.class);
        line.add(claim);
        rung.add(bell);
        if (i == 2) {
          assertThat(holding.attempt(holding.claim("block"))).isInstanceOf(Standing.Waiting.class);
        }
      }
      await().atMost(20, TimeUnit.SECONDS).until(() -> store.lengthOf("block") == 6);

      holding.withdraw(first);

      Standing.Held held = (Standing.Held) rung.get(0).get(20, TimeUnit.SECONDS);
      assertThat(held.followers()).containsExactly(line.get(1).id(), line.get(2).id());
      assertThat(rung.get(3)).isNotDone();
    }
  }

  @Test
  void aLongQueueIsJoinedWithoutReadingIt() throws Exception {
    try (EtcdStore store = EtcdStore.connect(Urls.of(server));
        EtcdStore holder = EtcdStore.connect(Urls.of(server))) {
      Seam holding = new Seam(holder);
      Seam seam = new Seam(store);
      Claim first = holding.claim("long");
      holding.take(first);
      List<Claim> line = new ArrayList<>();
      for (int i = 0; i < 20; i++) {
        line.add(seam.claim("long", Mode.EXCLUSIVE, Duration.ofMinutes(1)));
        assertThat(seam.attempt(line.get(i))).isInstanceOf(Standing.Waiting.class);
      }
      await().atMost(20, TimeUnit.SECONDS).until(() -> store.lengthOf("long") == 21);
      long before = sum("etcd_debugging_mvcc_range_total ");
      CompletableFuture<Standing> bell = new CompletableFuture<>();

      for (int i = 0; i < 20; i++) {
        Claim last = seam.claim("long");
        assertThat(seam.attempt(last, (Bell) bell::complete)).isInstanceOf(Standing.Waiting.class);
      }

      // what each compares, four keys; keep-alives read as well
      assertThat(sum("etcd_debugging_mvcc_range_total ") - before).isLessThan(5 * 20);
      holding.withdraw(first);
      line.forEach(seam::withdraw);
      assertThat(bell.get(20, TimeUnit.SECONDS)).isInstanceOf(Standing.Held.class);
    }
  }

  @Test
  void aThousandLocksWaitedForNeedFewConnections() throws Exception {
    try (EtcdStore store = EtcdStore.connect(Urls.of(server));
        EtcdStore holder = EtcdStore.connect(Urls.of(server))) {
      Seam seam = new Seam(store);
      Seam holding = new Seam(holder);
      List<Claim> held = new ArrayList<>();
      List<CompletableFuture<Standing>> answers = new ArrayList<>();
      for (int i = 0; i < 1_000; i++) {
        Claim claim = holding.claim("many" + i);
        held.add(claim);
        answers.add(holder.attempt(claim, standing -> {}).toCompletableFuture());
      }
      answers.forEach(Seam::answer);
      List<CompletableFuture<Standing>> bells = new ArrayList<>();
      for (int i = 0; i < 1_000; i++) {
        CompletableFuture<Standing> bell = new CompletableFuture<>();
        bells.add(bell);
        answers.add(
            store.attempt(seam.claim("many" + i), (Bell) bell::complete).toCompletableFuture());
      }
      answers.forEach(Seam::answer);
      long threads =
          Thread.getAllStackTraces().keySet().stream()
              .filter(thread -> thread.getName().startsWith("pawl-etcd-watch"))
              .count();
      assertThat(threads).isBetween(1L, 8L);

      held.forEach(holding::withdraw);

      await().atMost(20, TimeUnit.SECONDS).until(() -> bells.stream().allMatch(b -> b.isDone()));
    }
  }

  @Test
  void aHoldHasAThousandAndTwentyFourTokensHoweverManyItsClaimWouldLike() {
    try (EtcdStore store = EtcdStore.connect(Urls.of(server))) {
      Seam seam = new Seam(store);
      Standing.Held held = seam.take(seam.claimOfMany("tokens", 65_536));

      assertThat(held.lastToken() - held.token() + 1).isEqualTo(1_024);
    }
  }

  @Test
  void aLookAtALockIsOneReadAndAQuestionForEachLeaseOfItsClaims() throws Exception {
    try (EtcdStore store = EtcdStore.connect(Urls.of(server));
        EtcdStore holder = EtcdStore.connect(Urls.of(server))) {
      Seam holding = new Seam(holder);
      Claim claim = holding.claim("seen");
      holding.take(claim);
      assertThat(questionsOfALook(store)).containsExactly(1, 1);

      Seam waiting = new Seam(store);
      Claim waiter = waiting.claim("seen");
      assertThat(waiting.attempt(waiter)).isInstanceOf(Standing.Waiting.class);
      await().atMost(20, TimeUnit.SECONDS).until(() -> store.lengthOf("seen") == 2);
      assertThat(questionsOfALook(store)).as("of two clients").containsExactly(1, 2);

      waiting.withdraw(waiter);
      holding.withdraw(claim);
      assertThat(questionsOfALook(store)).as("it is free").containsExactly(1, 0);
    }
  }

  private static List<Integer> questionsOfALook(EtcdStore store) throws Exception {
    long reads = served("Txn");
    long leases = served("LeaseTimeToLive");
    assertThat(Seam.answer(store.show("seen"))).isPresent();
    return List.of((int) (served("Txn") - reads), (int) (served("LeaseTimeToLive") - leases));
  }
}
