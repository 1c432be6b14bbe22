package io.pawl.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.error.StoreException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.options.LockOptions;
import io.pawl.servers.RedisServer;
import io.pawl.servers.RespConnection;
import io.pawl.spi.Claim;
import io.pawl.spi.Standing;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A server that forgets, refuses or is replaced. */
class ServerFaultsTest {

  private static final String URL_END = "?timeout=500ms";

  private final RedisServer server = RedisServer.start();
  private final RedisStore store = Seam.connect(server.url() + URL_END);
  private final Seam seam = new Seam(store);

  @AfterEach
  void close() {
    server.resume();
    store.close();
    server.close();
  }

  @Test
  void scriptFlushIsMendedByOneMoreTrip() {
    Claim claim = seam.claim("flushed");
    Standing.Held held = seam.take(claim);
    server.call("SCRIPT", "FLUSH");
    assertThat(seam.renew(claim)).isEqualTo(held);
    server.call("SCRIPT", "FLUSH");
    seam.withdraw(claim);
    server.call("SCRIPT", "FLUSH");
    assertThat(seam.take(seam.claim("flushed")).token()).isGreaterThan(held.lastToken());
  }

  /** Each round's other lock has the script of an attempt loaded, and not that of a release. */
  @Test
  void aClientDoesNotFindBusyWhatItHasJustReleasedThoughScriptsWereFlushed() throws Exception {
    LockOptions options = LockOptions.defaults().releaseInBackground();
    try (Pawl pawl = Pawl.connect(server.url())) {
      for (int i = 0; i < 20; i++) {
        server.call("SCRIPT", "FLUSH");
        try (Lease other = pawl.lock("other" + i).acquire()) {
          pawl.lock("background", options).acquire().close();
          Optional<Lease> again = pawl.lock("background", options).tryAcquire();
          assertThat(again).as("round %d", i).isPresent();
          again.get().close();
          assertThat(other.isValid()).isTrue();
        }
      }
    }
  }

  @Test
  void whatIsForgottenIsFoundLostAndTokensRiseAllTheSame() {
    long last = 0;
    for (Runnable forget :
        new Runnable[] {
          () -> server.call("FLUSHALL"),
          () -> server.call("DEL", Keys.of("forgotten")),
          () -> {
            server.kill();
            server.restart();
          }
        }) {
      Claim claim = seam.claim("forgotten", Seam.LEASE, 64);
      Standing.Held held = seam.take(claim);
      assertThat(held.token()).isGreaterThan(last);
      forget.run();
      Claim next = seam.claim("forgotten", Seam.LEASE, 64);
      await()
          .ignoreException(StoreUnavailableException.class)
          .until(() -> seam.renew(claim).equals(Standing.GONE));
      Standing.Held anew = seam.take(next);
      assertThat(anew.token()).isGreaterThan(held.lastToken());
      last = anew.lastToken();
      seam.withdraw(next);
    }
  }

  @Test
  void outOfMemoryRefusesNewClaimsOnly() {
    Claim held = seam.claim("memory");
    Standing.Held tokens = seam.take(held);
    Claim waiter = seam.claim("memory");
    assertThat(seam.attempt(waiter)).isInstanceOf(Standing.Waiting.class);
    server.call("CONFIG", "SET", "maxmemory", "1");

    assertThatThrownBy(() -> seam.attempt(seam.claim("more")))
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining("maxmemory");
    assertThat(seam.renew(held)).isEqualTo(tokens);
    assertThat(seam.renew(waiter)).isInstanceOf(Standing.Waiting.class);
    seam.withdraw(held);
    assertThat(seam.renew(waiter)).isInstanceOf(Standing.Held.class);
    seam.withdraw(waiter);

    server.call("CONFIG", "SET", "maxmemory", "0");
    seam.take(seam.claim("memory"));
  }

  @Test
  void aPrimaryThatBecameAReplicaIsUnavailableNeverAcquired() {
    try (RedisServer other = RedisServer.start()) {
      seam.take(seam.claim("loadScripts"));
      server.call("REPLICAOF", other.host(), Integer.toString(other.port()));
      await()
          .untilAsserted(
              () ->
                  assertThatThrownBy(() -> seam.attempt(seam.claim("readOnly")))
                      .isInstanceOf(StoreUnavailableException.class)
                      .hasMessageContaining("replica"));
      server.call("REPLICAOF", "NO", "ONE");
      Claim claim = seam.claim("readOnly");
      await()
          .ignoreException(StoreUnavailableException.class)
          .until(() -> seam.attempt(claim) instanceof Standing.Held);
    }
  }

  @Test
  void aBusyServerIsUnavailableUntilItsScriptIsKilled() throws IOException {
    server.call("CONFIG", "SET", "busy-reply-threshold", "1");
    try (RespConnection busy = server.connect()) {
      busy.send("EVAL", "while true do end", "0");
      await()
          .untilAsserted(
              () ->
                  assertThatThrownBy(() -> seam.attempt(seam.claim("busy")))
                      .isInstanceOf(StoreUnavailableException.class)
                      .hasMessageContaining("SCRIPT KILL"));
      server.call("SCRIPT", "KILL");
    }
    await()
        .ignoreException(StoreUnavailableException.class)
        .until(() -> seam.attempt(seam.claim("notBusy")) instanceof Standing.Held);
  }

  @Test
  void aFrozenServerFailsInTimeAndIsUsedAgainOnceItThaws() {
    Claim claim = seam.claim("frozen");
    server.pause();
    assertThatThrownBy(() -> seam.attempt(claim))
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining("500 ms")
        .hasMessageContaining(server.host() + ":" + server.port());
    server.resume();
    await()
        .ignoreException(StoreUnavailableException.class)
        .until(() -> seam.attempt(claim) instanceof Standing.Held);
  }

  /** Those that could not be sent meanwhile do not wait for their own turn with a silent server. */
  @Test
  void everyAttemptAtAFrozenServerEndsInTimeHoweverManyThereAre() throws Exception {
    server.pause();
    List<CompletableFuture<Void>> ends = new ArrayList<>();
    for (int i = 0; i < 4_000; i++) {
      ends.add(
          store
              .attempt(seam.claim("many" + i), standing -> {})
              .<Void>handle((standing, error) -> null)
              .toCompletableFuture());
    }
    CompletableFuture.allOf(ends.toArray(CompletableFuture[]::new)).get(5, TimeUnit.SECONDS);
  }

  @Test
  void aKeyWithOtherDataIsNotTouched() {
    server.call("SET", Keys.of("foreign"), "data");
    assertThatThrownBy(() -> seam.attempt(seam.claim("foreign")))
        .isInstanceOf(StoreException.class)
        .hasMessageContaining("pawl:lock:");
    assertThat(server.call("GET", Keys.of("foreign"))).isEqualTo("data");
  }
}
