package io.pawl.redis;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.error.StoreDeniedException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.options.LockOptions;
import io.pawl.servers.RedisCluster;
import io.pawl.servers.RedisServer;
import io.pawl.servers.RedisServer.Flavour;
import io.pawl.spi.Claim;
import io.pawl.spi.CounterRequest;
import io.pawl.spi.Operation;
import io.pawl.spi.Standing;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The rights that docs/REDIS.md lists suffice, and what lacks one is told so. */
class RightsTest {

  private static final List<String> RULES =
      List.of(
          "~pawl:lock:*",
          "~pawl:counter:*",
          "&pawl:bell:*",
          "-@all",
          "+hello",
          "+ping",
          "+client|setname",
          "+select",
          "+eval",
          "+evalsha",
          "+time",
          "+hmget",
          "+hget",
          "+hset",
          "+hdel",
          "+hgetall",
          "+pexpireat",
          "+publish",
          "+subscribe",
          "+unsubscribe",
          "+scan");

  private static final String[] OF_A_CLUSTER = {
    "+cluster|slots", "+cluster|nodes", "+cluster|shards", "+info", "+asking"
  };

  private static String[] rules(String... more) {
    List<String> rules = new ArrayList<>(RULES);
    rules.addAll(List.of(more));
    return rules.toArray(String[]::new);
  }

  @Test
  void theRightsInTheDocumentationSuffice() {
    try (RedisServer server = RedisServer.setup().user("app", "secret", rules()).start();
        RedisStore store =
            RedisStore.connect("redis://app:secret@" + server.host() + ":" + server.port())) {
      Seam seam = new Seam(store);
      Claim first = seam.claim("rights");
      Claim second = seam.claim("rights");
      seam.take(first);
      assertThat(seam.attempt(second)).isInstanceOf(Standing.Waiting.class);
      await().until(() -> !server.list("PUBSUB", "CHANNELS").isEmpty());
      seam.withdraw(first);
      assertThat(seam.renew(second)).isInstanceOf(Standing.Held.class);
      assertThat(Seam.answer(store.list(10))).hasSize(1);
      assertThat(Seam.answer(store.show("rights"))).isPresent();
      Operation set = new Operation.SetTo(3);
      Seam.answer(
          store.apply(
              CounterRequest.of(
                  "stock", UUID.randomUUID().toString(), System.currentTimeMillis(), set, true)));
      assertThat(Seam.answer(store.read("stock"))).isPresent();

      server.call("ACL", "SETUSER", "app", "-hset");
      assertThatThrownBy(() -> seam.attempt(seam.claim("denied")))
          .isInstanceOf(StoreDeniedException.class)
          .hasMessageContaining("docs/REDIS.md");
    }
  }

  /** Redis 7 makes users without any channel, so that this is the commonest slip. */
  @Test
  void withoutTheRightToSubscribeWaitersAreServedByAskingAndTheLogIsToldOnce() throws Exception {
    String[] rules = rules("resetchannels");
    PrintStream stderr = System.err;
    ByteArrayOutputStream log = new ByteArrayOutputStream();
    System.setErr(new PrintStream(log, true, UTF_8));
    try (RedisServer server = RedisServer.setup().user("app", "secret", rules).start();
        RedisStore store =
            RedisStore.connect("redis://app:secret@" + server.host() + ":" + server.port());
        RedisStore free = RedisStore.connect(server.url());
        Pawl here = Pawl.over(store);
        Pawl there = Pawl.over(free)) {
      LockOptions strict = LockOptions.defaults().strictOrder();
      Lease lease = there.lock("deaf", strict).acquire();
      CompletableFuture<Optional<Lease>> waiter =
          here.lock("deaf", strict).tryAcquireAsync(Duration.ofMinutes(5));
      // the first, and again after 0.5, 1 and 2 s
      await().atMost(Duration.ofMinutes(1)).until(() -> refusedSubscriptions(server) >= 3);
      lease.close();
      assertThat(waiter.get(60, TimeUnit.SECONDS)).isPresent();
    } finally {
      System.setErr(stderr);
    }
    assertThat(log.toString(UTF_8).lines().filter(line -> line.contains("let us subscribe")))
        .singleElement()
        .asString()
        .contains("WARN")
        .contains("pawl:bell:*");
    assertThat(log.toString(UTF_8)).doesNotContain("\tat ");
  }

  @Test
  void withoutTheChannelsARequestThatGrantsToAnothersWaiterSucceeds() {
    try (RedisServer server =
            RedisServer.setup().user("app", "secret", rules("resetchannels")).start();
        RedisStore here =
            RedisStore.connect("redis://app:secret@" + server.host() + ":" + server.port());
        RedisStore there =
            RedisStore.connect("redis://app:secret@" + server.host() + ":" + server.port())) {
      Seam ours = new Seam(here);
      Seam theirs = new Seam(there);
      Claim first = ours.claim("handed over");
      Claim second = theirs.claim("handed over");
      ours.take(first);
      theirs.attempt(second);
      ours.withdraw(first);
      assertThat(theirs.renew(second)).isInstanceOf(Standing.Held.class);

      Claim dies = ours.claim("ran out", Duration.ofMillis(100), 1);
      Claim next = theirs.claim("ran out");
      ours.take(dies);
      theirs.attempt(next);
      await().until(() -> Seam.answer(here.show("ran out")).orElseThrow().holders().isEmpty());
      assertThat(ours.attempt(ours.claim("ran out"))).isInstanceOf(Standing.Waiting.class);
      assertThat(theirs.renew(next)).isInstanceOf(Standing.Held.class);
    }
  }

  private static long refusedSubscriptions(RedisServer server) {
    return server
        .text("INFO", "commandstats")
        .lines()
        .filter(line -> line.startsWith("cmdstat_subscribe:"))
        .mapToLong(line -> Long.parseLong(line.replaceAll(".*rejected_calls=(\\d+).*", "$1")))
        .sum();
  }

  @Test
  void aRightGivenLaterIsFound() {
    try (RedisServer server =
            RedisServer.setup().user("app", "secret", rules("resetchannels")).start();
        RedisStore store =
            RedisStore.connect("redis://app:secret@" + server.host() + ":" + server.port())) {
      Seam seam = new Seam(store);
      seam.take(seam.claim("later"));
      seam.attempt(seam.claim("later"));
      await().until(() -> refusedSubscriptions(server) >= 1);
      server.call("ACL", "SETUSER", "app", "&pawl:bell:*");
      await()
          .atMost(Duration.ofMinutes(1))
          .until(() -> server.list("PUBSUB", "CHANNELS").size() == 1);
    }
  }

  @Test
  void whoeverFindsNoConnectionIsToldThatTheServerRefusesThePasswordOfANewOne() {
    try (RedisServer server = RedisServer.setup().user("app", "secret", rules()).start();
        RedisStore store =
            RedisStore.connect(
                "redis://app:secret@" + server.host() + ":" + server.port() + "?timeout=300ms")) {
      Seam seam = new Seam(store);
      server.call("ACL", "SETUSER", "app", "resetpass", ">changed");
      server.call("CLIENT", "KILL", "USER", "app");
      await()
          .untilAsserted(
              () ->
                  assertThatThrownBy(() -> seam.attempt(seam.claim("refused")))
                      .isInstanceOf(StoreUnavailableException.class)
                      .hasMessageContaining("WRONGPASS")
                      .hasMessageNotContaining("secret"));

      server.call("ACL", "SETUSER", "app", ">secret");
      await()
          .ignoreException(StoreUnavailableException.class)
          .until(() -> seam.attempt(seam.claim("taken again")) instanceof Standing.Held);
      server.kill();
      assertThatThrownBy(() -> seam.attempt(seam.claim("gone")))
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageNotContaining("WRONGPASS");
    }
  }

  @Test
  void whoeverFindsNoConnectionToANodeIsToldThatItRefusesThePasswordOfANewOne() {
    try (RedisCluster cluster =
            RedisCluster.start(
                setup -> setup.user("app", "secret", rules("+cluster|slots", "+cluster|nodes")));
        RedisStore store =
            RedisStore.connect(
                Urls.of(cluster).replace("//", "//app:secret@") + "?timeout=500ms")) {
      Seam seam = new Seam(store);
      for (RedisServer node : cluster.nodes()) {
        node.call("ACL", "SETUSER", "app", "resetpass", ">changed");
        node.call("CLIENT", "KILL", "USER", "app");
      }
      await()
          .untilAsserted(
              () ->
                  assertThatThrownBy(() -> seam.attempt(seam.claim("refused")))
                      .isInstanceOf(StoreUnavailableException.class)
                      .hasMessageContaining("WRONGPASS"));
    }
  }

  @Test
  void theRightsOfAClusterSufficeWhileASlotMoves() {
    try (RedisCluster cluster =
            RedisCluster.start(setup -> setup.user("app", "secret", rules(OF_A_CLUSTER)));
        RedisStore store = RedisStore.connect(Urls.of(cluster).replace("//", "//app:secret@"))) {
      Seam seam = new Seam(store);
      Claim claim = seam.claim("{moves}");
      Standing.Held held = seam.take(claim);
      int slot = cluster.slotOf(Keys.of("{moves}"));
      RedisServer owner = cluster.ownerOf(slot);
      RedisServer target =
          cluster.nodes().stream().filter(node -> node != owner).findFirst().orElseThrow();
      RedisCluster.SlotMove move = cluster.moveSlot(slot, target).begin();
      assertThat(move.moveKeys(100)).isEqualTo(1);

      assertThat(seam.renew(claim)).isEqualTo(held);
      assertThat(seam.attempt(seam.claim("{moves}new"))).isInstanceOf(Standing.Held.class);
      move.finish();
      assertThat(seam.renew(claim)).isEqualTo(held);
    }
  }

  @Test
  void theDoctorNamesTheRightThatAMoveOfSlotsNeeds() {
    try (RedisCluster cluster =
            RedisCluster.start(
                setup -> setup.user("app", "secret", "allcommands", "allkeys", "allchannels"));
        RedisStore store = RedisStore.connect(Urls.of(cluster).replace("//", "//app:secret@"))) {
      assertThat(store.diagnose()).noneMatch(finding -> finding.what().contains("may not"));

      cluster.nodes().forEach(node -> node.call("ACL", "SETUSER", "app", "-asking"));

      assertThat(store.diagnose()).anyMatch(finding -> finding.what().contains("may not ASKING"));
    }
  }

  @Test
  void aRightForSomeLocksAloneDeniesTheOthersAlone() {
    try (RedisServer server =
            RedisServer.setup()
                .user("app", "secret", rules("resetkeys", "~pawl:lock:ours*"))
                .start();
        RedisStore store =
            RedisStore.connect("redis://app:secret@" + server.host() + ":" + server.port())) {
      Seam seam = new Seam(store);
      seam.take(seam.claim("ours"));
      server.pause();
      List<CompletableFuture<Standing>> ours = new ArrayList<>();
      List<CompletableFuture<Standing>> theirs = new ArrayList<>();
      for (int i = 0; i < 20; i++) {
        ours.add(attempt(store, seam.claim("ours" + i)));
        theirs.add(attempt(store, seam.claim("theirs" + i)));
      }
      server.resume();

      assertThat(ours).allMatch(stage -> Seam.answer(stage) instanceof Standing.Held);
      for (CompletableFuture<Standing> stage : theirs) {
        assertThatThrownBy(() -> Seam.answer(stage)).isInstanceOf(StoreDeniedException.class);
      }
    }
  }

  private static CompletableFuture<Standing> attempt(RedisStore store, Claim claim) {
    return store.attempt(claim, standing -> {}).toCompletableFuture();
  }

  @Test
  void aClusterWithTlsPasswordsAndFewRights() {
    String[] rules =
        rules(
            "+cluster|slots",
            "+cluster|nodes",
            "+cluster|shards",
            "+info",
            "+asking",
            "+acl|whoami",
            "+acl|dryrun",
            "+cluster|info");
    try (RedisCluster cluster =
            RedisCluster.start(
                setup ->
                    setup
                        .flavour(Flavour.VALKEY)
                        .tls()
                        .password("admin")
                        .user("app", "se/cret", rules));
        RedisStore store = RedisStore.connect(url(cluster, "app:se%2Fcret"));
        RedisStore others = RedisStore.connect(url(cluster, "app:se%2Fcret"))) {
      Seam here = new Seam(store);
      Seam there = new Seam(others);
      int bells = 0;
      for (int i = 0; i < 12; i++) {
        Claim holder = there.claim("guarded" + i);
        there.take(holder);
        Claim waiter = here.claim("guarded" + i);
        CompletableFuture<Standing> rung = new CompletableFuture<>();
        Seam.answer(store.attempt(waiter, rung::complete));
        there.withdraw(holder);
        // any single bell may be lost, between nodes that have just met
        Standing heard = rung.completeOnTimeout(Standing.GONE, 2, TimeUnit.SECONDS).join();
        bells += heard instanceof Standing.Held ? 1 : 0;
        assertThat(here.renew(waiter)).isInstanceOf(Standing.Held.class);
      }
      assertThat(bells).isPositive();
      assertThat(Seam.answer(store.list(20))).hasSize(12);
      assertThat(store.diagnose())
          .noneMatch(finding -> finding.what().contains("could not be asked"))
          .anyMatch(finding -> finding.what().contains("Cluster is ok"));
      assertThatThrownBy(() -> RedisStore.connect(url(cluster, "app:wrong")))
          .isInstanceOf(StoreDeniedException.class)
          .hasMessageContaining("before the @");
    }
  }

  private static String url(RedisCluster cluster, String account) {
    String plain = Urls.of(cluster).replace("://", "://" + account + "@");
    return plain + "?tls=true&trustPem=" + cluster.nodes().get(0).certificates().certificatePem();
  }
}
