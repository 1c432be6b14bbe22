package io.pawl.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.pawl.error.StoreUnavailableException;
import io.pawl.etcd.gateway.Json;
import io.pawl.servers.EtcdServer;
import io.pawl.spi.Claim;
import io.pawl.spi.Kind;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import io.pawl.spi.StoreUrl;
import java.time.Duration;
import java.util.Base64;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What becomes of a lock's kind while it is held. */
class KindsTest {

  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final int KIND_SECONDS = 4;

  private final EtcdServer server = EtcdServer.start(Urls.QUICK);
  private final EtcdStore store =
      EtcdStore.connect(EtcdUrl.parse(StoreUrl.parse(Urls.of(server))), KIND_SECONDS);
  private final Seam seam = new Seam(store);
  private final EtcdStore near = EtcdStore.connect(Urls.of(server));

  @AfterEach
  void close() {
    store.close();
    near.close();
    server.close();
  }

  private static Mode permits(int wanted, int capacity) {
    return new Mode.Permits(wanted, capacity);
  }

  private Map<String, Object> read(String key) {
    String reply =
        server.post("/v3/kv/range", "{\"key\":\"" + ServerFaultsTest.base64(key) + "\"}");
    return Json.objects(Json.object(reply), "kvs").stream().findFirst().orElse(Map.of());
  }

  private long leaseOf(String key) {
    return Json.number(read(key), "lease");
  }

  private String kindOf(String lock) {
    return new String(
        Base64.getDecoder().decode(Json.text(read("pawl/kind/" + lock), "value")),
        java.nio.charset.StandardCharsets.UTF_8);
  }

  @Test
  void aCapacityThatSomebodyElseSetStaysAsLongAsItsSemaphoreIsHeld() throws Exception {
    Claim held = seam.claim("capacity", permits(1, 8), Seam.LEASE);
    seam.take(held);
    assertThat(Seam.answer(near.setKind("capacity", new Kind(4)))).isTrue();
    long theirs = leaseOf("pawl/kind/capacity");

    await()
        .atMost(PATIENCE)
        .until(
            () -> {
              assertThat(seam.renew(held)).isInstanceOf(Standing.Held.class);
              return leaseOf("pawl/kind/capacity") != theirs;
            });

    assertThat(kindOf("capacity")).isEqualTo(new Kind(4).toString());
    server.post("/v3/lease/revoke", "{\"ID\":\"" + theirs + "\"}");
    assertThat(seam.renew(held)).isInstanceOf(Standing.Held.class);
    assertThat(kindOf("capacity")).isEqualTo(new Kind(4).toString());
  }

  @Test
  void aHoldThatHasMoreThanThePermitsOfItsSemaphoreSurvivesAMoveAndAFurtherCut() {
    Claim held = seam.claim("cut", permits(3, 4), Seam.LEASE);
    seam.take(held);
    assertThat(Seam.answer(near.setKind("cut", new Kind(2)))).isTrue();
    String key = new Keys("pawl").claim("cut", held.mode(), held.id());
    long before = leaseOf(key);
    server.kill();
    server.restart();
    await()
        .atMost(PATIENCE)
        .ignoreException(StoreUnavailableException.class)
        .until(() -> seam.renew(held) instanceof Standing.Held && leaseOf(key) != before);

    await()
        .atMost(PATIENCE)
        .ignoreException(StoreUnavailableException.class)
        .until(() -> Seam.answer(near.setKind("cut", new Kind(1))));

    assertThat(seam.renew(held)).isInstanceOf(Standing.Held.class);
  }

  @Test
  void aKindWhoseLeaseSomebodyRevokedIsPutOnAnother() {
    Claim claim = seam.claim("revoked");
    seam.take(claim);
    revokeLeaseOf("pawl/kind/revoked");
    assertThat(seam.attempt(claim.as(Mode.SHARED))).isInstanceOf(Standing.Held.class);

    assertThat(Seam.answer(near.setKind("unused", new Kind(2)))).isTrue();
    revokeLeaseOf("pawl/kind/unused");
    assertThat(Seam.answer(near.setKind("unused", new Kind(3)))).isTrue();
    assertThat(kindOf("unused")).isEqualTo(new Kind(3).toString());
  }

  @Test
  void aKindThatSomebodyDeletedIsPutByWhoeverTakesTheLockNext() {
    for (int i = 0; i < 2; i++) { // the second time without a look at the queue
      Claim claim = seam.claim("deleted");
      seam.take(claim);
      seam.withdraw(claim);
    }
    revokeLeaseOf("pawl/kind/deleted");

    Claim next = seam.claim("deleted");
    seam.take(next);

    assertThat(kindOf("deleted")).isEqualTo(Kind.LOCK.toString());
    Seam other = new Seam(near);
    assertThat(other.attempt(other.claim("deleted"))).isInstanceOf(Standing.Waiting.class);
  }

  private void revokeLeaseOf(String key) {
    server.post("/v3/lease/revoke", "{\"ID\":\"" + leaseOf(key) + "\"}");
  }
}
