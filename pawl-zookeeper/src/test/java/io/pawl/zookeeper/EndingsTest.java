package io.pawl.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.DistributedLock;
import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.error.StoreUnavailableException;
import io.pawl.options.LockOptions;
import io.pawl.servers.Direction;
import io.pawl.servers.FaultProxy;
import io.pawl.servers.ZooKeeperEnsemble;
import io.pawl.servers.ZooKeeperServer;
import io.pawl.spi.Claim;
import io.pawl.spi.Standing;
import io.pawl.spi.StoreUrl;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

/** Each length of lease has a session, and two sessions may be at two servers. */
class EndingsTest {

  private static final LockOptions LATE = LockOptions.defaults().releaseInBackground();

  private static final Duration ANOTHER_LEASE = Duration.ofSeconds(20);

  private static final int CLIENTS = 6;

  @Test
  void anAttemptComesAfterTheReleaseOfALeaseOfAnotherLength() {
    try (ZooKeeperEnsemble ensemble = ZooKeeperEnsemble.start(ContractServers.OPTIONS)) {
      for (int i = 0; i < CLIENTS; i++) { // each goes to servers of its own
        try (Pawl pawl = Pawl.connect("zk://" + ensemble.addresses() + "/endings")) {
          findsNoRemnant(pawl.lock("lock", LATE), pawl.lock("lock", LATE.lease(ANOTHER_LEASE)));
        }
      }
    }
  }

  /** The third has the session of the release, which the service does first in any case. */
  @Test
  void anAttemptComesAfterOneOfAnotherLengthThatWaitsForARelease() {
    try (ZooKeeperServer server = ZooKeeperServer.start(ContractServers.OPTIONS);
        FaultProxy proxy = FaultProxy.before(server);
        ZooKeeperStore store = Seam.connect("zk://" + proxy.host() + ":" + proxy.port())) {
      Seam seam = new Seam(store);
      Claim first = seam.claim("lock");
      Claim second = seam.claim("lock", ANOTHER_LEASE, 1);
      Claim third = seam.claim("lock");
      seam.take(seam.claim("opens the session", ANOTHER_LEASE, 1));
      seam.take(first);
      proxy.delay(Direction.TO_CLIENT, Duration.ofMillis(200));

      store.withdraw(first);
      CompletionStage<Standing> earlier = store.attempt(second, standing -> {});
      CompletionStage<Standing> later = store.attempt(third, standing -> {});

      assertThat(Seam.answer(earlier)).isInstanceOf(Standing.Held.class);
      assertThat(Seam.answer(later)).isInstanceOf(Standing.Waiting.class);
    }
  }

  @Test
  void anAttemptThatWaitsForTooLongIsRefusedAsNotSent() {
    try (ZooKeeperServer server = ZooKeeperServer.start(ContractServers.OPTIONS);
        Clock clock = new Clock()) {
      Settings settings =
          Settings.parse(StoreUrl.parse("zk://" + server.address() + "?timeout=1s"));
      QueuedClaims claims = new QueuedClaims(settings, clock, new Failures(settings.shown()));
      Seam seam = new Seam(null);
      Session another = claims.sessions().of(ANOTHER_LEASE.toMillis());
      claims.endings().begins("lock", another, new CompletableFuture<>());

      CompletableFuture<Standing> answer = claims.attempt(seam.claim("lock"), standing -> {});

      assertThatThrownBy(() -> Seam.answer(answer))
          .isInstanceOfSatisfying(
              StoreUnavailableException.class, why -> assertThat(why.isUnsent()).isTrue());
      assertThat(claims.size()).isZero();
      claims.close();
    }
  }

  private static void findsNoRemnant(DistributedLock one, DistributedLock another) {
    long last = 0;
    for (int i = 0; i < 100; i++) {
      try (Lease lease = (i % 2 == 0 ? one : another).tryAcquire().orElseThrow()) {
        assertThat(lease.token()).isGreaterThan(last);
        last = lease.token();
      }
    }
  }
}
