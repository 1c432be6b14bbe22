package io.pawl.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.error.StoreUnavailableException;
import io.pawl.etcd.gateway.Gateway;
import io.pawl.etcd.gateway.Json;
import io.pawl.options.LockOptions;
import io.pawl.options.PawlOptions;
import io.pawl.servers.EtcdCluster;
import io.pawl.servers.EtcdServer;
import io.pawl.spi.Claim;
import io.pawl.spi.Standing;
import io.pawl.spi.StoreUrl;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A leader that stands still, is deposed, and goes on before it knows. */
class DeposedLeaderTest {

  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final long SECOND_NANOS = 1_000_000_000;
  private static final int SECONDS = 60;
  private static final int CLIENTS = 40;

  private final EtcdCluster cluster = EtcdCluster.start(Urls.QUICK);

  @AfterEach
  void close() {
    cluster.members().forEach(EtcdServer::resume);
    cluster.close();
  }

  private EtcdServer nextLeader(EtcdServer deposed) {
    return await()
        .atMost(PATIENCE)
        .until(
            () ->
                cluster.members().stream()
                    .filter(member -> member != deposed && member.leads())
                    .findFirst()
                    .orElse(null),
            leader -> leader != null);
  }

  private static void pass(long nanos) {
    long from = System.nanoTime();
    await().atMost(PATIENCE).until(() -> System.nanoTime() - from > nanos);
  }

  private static long secondsLeft(EtcdServer leader, long lease) {
    return Json.number(
        Json.object(leader.post("/v3/lease/timetolive", "{\"ID\":\"" + lease + "\"}")), "TTL");
  }

  private static Gateway gateway(EtcdServer member) {
    String url = "etcd://" + member.host() + ":" + member.port() + "?timeout=20s";
    return new Gateway(EtcdUrl.parse(StoreUrl.parse(url)).target());
  }

  /** It answers what it finds in its sockets when it wakes up: here much at once. */
  @Test
  void p1_oneHolder_aLeaseCountsForNoLongerThanTheNextLeaderKeepsIt() {
    for (int i = 0; i < 4; i++) {
      EtcdServer deposed = cluster.leader();
      List<Gateway> gateways = new ArrayList<>();
      try {
        for (int j = 0; j < CLIENTS; j++) {
          gateways.add(gateway(deposed));
        }
        List<SharedLease> leases =
            gateways.stream()
                .map(each -> new SharedLease(each, new Keys("pawl"), SECONDS, SECOND_NANOS))
                .toList();
        leases.forEach(lease -> lease.fresh(1_000).join());
        deposed.pause();
        EtcdServer leader = nextLeader(deposed);
        pass(3 * SECOND_NANOS);

        long from = System.nanoTime();
        List<CompletableFuture<Long>> asked =
            leases.stream().map(lease -> lease.fresh(SECONDS * 1_000 - 10)).toList();
        deposed.resume();

        asked.forEach(each -> assertKept(leader, each, from));
      } finally {
        gateways.forEach(Gateway::close);
      }
    }
  }

  private static void assertKept(EtcdServer leader, CompletableFuture<Long> asked, long from) {
    long id;
    try {
      id = asked.orTimeout(40, TimeUnit.SECONDS).join();
    } catch (CompletionException nothingIsPromised) {
      assertThat(nothingIsPromised).hasCauseInstanceOf(StoreUnavailableException.class);
      return;
    }
    long left = secondsLeft(leader, id);
    long endsBefore = System.nanoTime() + (left + 1) * SECOND_NANOS;
    assertThat(endsBefore - from).isGreaterThan(SECONDS * SECOND_NANOS);
  }

  /** It finds leases run out, and passes their revocation to the next leader. */
  @Test
  void p1_oneHolder_noHoldIsLostToALeaderThatWakesUp() throws Exception {
    LockOptions options = LockOptions.defaults().lease(Duration.ofSeconds(3));
    AtomicInteger lost = new AtomicInteger();
    try (Pawl here = connect("?timeout=500ms");
        Pawl there = connect("")) {
      for (int i = 0; i < 4; i++) {
        Lease lease = here.lock("revoked" + i, options).acquire();
        lease.onLost(lost::incrementAndGet);
        EtcdServer deposed = cluster.leader();
        deposed.pause();
        nextLeader(deposed);
        pass(6 * SECOND_NANOS);
        deposed.resume();

        long resumedAt = System.nanoTime();
        String name = lease.lock();
        await()
            .atMost(PATIENCE)
            .ignoreException(StoreUnavailableException.class)
            .until(
                () -> {
                  var other = there.lock(name, options).tryAcquire();
                  assertThat(other.isPresent() && lease.isValid()).as("two holders").isFalse();
                  other.ifPresent(Lease::close);
                  return System.nanoTime() - resumedAt > 2 * SECOND_NANOS;
                });
        assertThat(lease.isValid()).isTrue();
        lease.close();
      }
    }
    assertThat(lost).hasValue(0);
  }

  private Pawl connect(String parameters) {
    return Pawl.connect(
        "etcd://" + cluster.addresses() + "/pawl" + parameters,
        PawlOptions.defaults().patience(Duration.ofSeconds(20)).shutdownGrace(Duration.ZERO));
  }

  @Test
  void aLeaseIsKeptUnderItsIdUntilTheLeaderChangesAndClaimsThenMoveToAnother() {
    try (EtcdStore store = EtcdStore.connect("etcd://" + cluster.addresses() + "?timeout=500ms")) {
      Seam seam = new Seam(store);
      Claim held = seam.claim("moved");
      Claim waits = seam.claim("moved");
      Standing tokens = seam.take(held);
      assertThat(seam.attempt(waits)).isInstanceOf(Standing.Waiting.class);
      long before = leaseOf(cluster.leader(), held);
      pass(5 * SECOND_NANOS);
      assertThat(seam.renew(held)).isEqualTo(tokens);
      assertThat(leaseOf(cluster.leader(), held)).isEqualTo(before);

      EtcdServer deposed = cluster.leader();
      deposed.kill();
      EtcdServer leader = nextLeader(deposed);

      await()
          .atMost(PATIENCE)
          .ignoreException(StoreUnavailableException.class)
          .untilAsserted(
              () -> {
                assertThat(seam.renew(held)).isEqualTo(tokens);
                assertThat(seam.renew(waits)).isInstanceOf(Standing.Waiting.class);
                assertThat(leaseOf(leader, held)).isNotEqualTo(before).isNotZero();
                assertThat(leaseOf(leader, waits)).isEqualTo(leaseOf(leader, held));
              });
      cluster.restart(List.of(deposed));
      seam.withdraw(held);
      assertThat(seam.renew(waits)).isInstanceOf(Standing.Held.class);
    }
  }

  private static long leaseOf(EtcdServer member, Claim claim) {
    String key = new Keys("pawl").claim(claim.lock(), claim.mode(), claim.id());
    String reply =
        member.post("/v3/kv/range", "{\"key\":\"" + ServerFaultsTest.base64(key) + "\"}");
    return Json.objects(Json.object(reply), "kvs").stream()
        .mapToLong(kv -> Json.number(kv, "lease"))
        .findFirst()
        .orElse(0);
  }
}
