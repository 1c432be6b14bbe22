package io.pawl.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.pawl.etcd.gateway.Gateway;
import io.pawl.etcd.gateway.Txn;
import io.pawl.servers.Direction;
import io.pawl.servers.EtcdServer;
import io.pawl.servers.FaultProxy;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.StoreUrl;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class BellsTest {

  /** More than the streams of single locks watch, however fast they are opened. */
  private static final int LOCKS = 20;

  private static final int USED_ONCE = 30 * Txn.MAX_OPS;

  private final EtcdServer server = EtcdServer.start(Urls.QUICK);
  private final FaultProxy proxy = FaultProxy.before(server);
  private final Gateway gateway =
      new Gateway(
          EtcdUrl.parse(StoreUrl.parse("etcd://" + proxy.host() + ":" + proxy.port())).target());
  private final Keys keys = new Keys("pawl");
  private final Seam seam = new Seam(null);
  private final List<LocalClaim> granted = new CopyOnWriteArrayList<>();
  private final List<LocalClaim> again = new CopyOnWriteArrayList<>();
  private final AtomicBoolean threadless = new AtomicBoolean();
  private final Bells bells =
      new Bells(
          gateway,
          keys,
          new Bells.Callbacks() {
            @Override
            public void granted(LocalClaim local, List<ClaimId> followers) {
              granted.add(local);
            }

            @Override
            public void lookAgain(List<LocalClaim> locals) {
              again.addAll(locals);
            }
          },
          this::thread);

  private Thread thread(Runnable task) {
    return new Thread(task) {
      @Override
      public void start() {
        if (threadless.get()) {
          throw new OutOfMemoryError("for a test");
        }
        super.start();
      }
    };
  }

  @AfterEach
  void close() {
    bells.close();
    gateway.close();
    proxy.close();
    server.close();
  }

  private LocalClaim waiter(int number) {
    Claim claim = seam.claim("lock" + number);
    SharedLease lease = new SharedLease(gateway, keys, 60, Duration.ofSeconds(5).toNanos());
    String key = keys.claim(claim.lock(), claim.mode(), claim.id());
    return new LocalClaim(claim, standing -> {}, key, lease, Instant.now(), System.nanoTime());
  }

  private static Look.Seen.Waits waitsAt(long revision) {
    return new Look.Seen.Waits("blocker", true, revision, 1, 1);
  }

  private long write() {
    return gateway.txn(Txn.of(Txn.put("elsewhere", "", 0))).join().revision();
  }

  /** A bell is a courtesy: what it lacks fails nobody's request. */
  @Test
  void aWatchForWhichNoThreadCanBeStartedIsBegunAnew() {
    LocalClaim waiter = waiter(0);
    long revision = write();
    threadless.set(true);
    bells.await(waiter, waitsAt(revision));
    threadless.set(false);

    bells.tick(System.nanoTime() + Duration.ofSeconds(2).toNanos());

    assertThat(again).containsExactly(waiter);
    bells.await(waiter, waitsAt(revision));
    assertThat(bells.firstRevision()).isEqualTo(revision + 1);
  }

  @Test
  void aNetworkThatIsSlowerThanAWatchIsWaitedForIsGivenMoreTime() {
    LocalClaim waiter = waiter(0);
    waiter.createRevision = put(waiter.key);
    proxy.delay(Direction.TO_CLIENT, Duration.ofMillis(1_300));

    bells.await(waiter, waitsAt(waiter.createRevision));

    await()
        .atMost(Duration.ofSeconds(30))
        .until(
            () -> {
              bells.tick(System.nanoTime());
              again.forEach(local -> bells.await(local, waitsAt(waiter.createRevision)));
              again.clear();
              return bells.lengthOf("lock0") == 1;
            });
  }

  @Test
  void aWatchThatTakesThePlaceOfAnotherBeginsWhereItsWaitersHaveReadLast() {
    LocalClaim patient = waiter(0);
    long first = write();
    bells.await(patient, waitsAt(first));
    await().until(() -> bells.firstRevision() == first + 1);
    for (int i = 0; i < 100; i++) {
      write();
    }
    long last = write();

    bells.await(patient, waitsAt(last)); // it has asked again
    for (int i = 1; i < LOCKS; i++) {
      bells.await(waiter(i), waitsAt(last));
    }

    await().until(() -> bells.firstRevision() == last + 1);
  }

  /** The mirror alone has heard that the nearest before it has ended. */
  @Test
  void p6_someoneGetsIn_theWatchOfManyLocksTellsWhoeverWaitedInAMirroredQueue() {
    String first = put(waiter(0));
    String nearest = put(waiter(0));
    LocalClaim last = waiter(0);
    put(last);
    bells.await(last, new Look.Seen.Waits(nearest, false, last.createRevision, 1, 1));
    await().until(() -> bells.lengthOf("lock0") == 3);
    gateway.txn(Txn.of(Txn.delete(nearest))).join();
    await().until(() -> bells.lengthOf("lock0") == 2);
    long revision = write();
    for (int i = 1; i < LOCKS; i++) {
      bells.await(waiter(i), waitsAt(revision));
    }

    await().until(() -> again.contains(last));
    bells.await(last, new Look.Seen.Waits(first, true, write(), 1, 1));
    gateway.txn(Txn.of(Txn.delete(first))).join();

    await().until(() -> granted.contains(last));
  }

  /** They ended on one lease, in one revision that no watch could be told in parts. */
  @Test
  void p6_someoneGetsIn_kindsThatRunOutDelayNobodyWhoWaitsForManyLocks() {
    long lease = SharedLease.grant(gateway, 600).join().id();
    for (int i = 0; i < USED_ONCE; i += Txn.MAX_OPS) {
      List<Txn.Op> kinds = new ArrayList<>();
      for (int j = i; j < i + Txn.MAX_OPS; j++) {
        kinds.add(Txn.put(keys.kind("used once " + j), "lock", lease));
      }
      gateway.txn(Txn.of(kinds.toArray(Txn.Op[]::new))).join();
    }
    String first = put(waiter(0));
    String other = put(waiter(1));
    long revision = write();
    LocalClaim next = waiter(0);
    LocalClaim heard = waiter(1);
    bells.await(next, new Look.Seen.Waits(first, true, revision, 1, 1));
    bells.await(heard, new Look.Seen.Waits(other, true, revision, 1, 1));
    for (int i = 2; i < LOCKS; i++) {
      bells.await(waiter(i), waitsAt(revision));
    }
    await().until(() -> bells.firstRevision() == revision + 1);
    gateway.txn(Txn.of(Txn.delete(other))).join();
    await()
        .until(
            () -> {
              bells.tick(System.nanoTime());
              return granted.contains(heard);
            });
    proxy.throttle(Direction.TO_CLIENT, 20_000);

    server.post("/v3/lease/revoke", "{\"ID\":\"" + lease + "\"}");
    gateway.txn(Txn.of(Txn.delete(first))).join();

    await().atMost(Duration.ofSeconds(3)).until(() -> granted.contains(next));
  }

  private String put(LocalClaim claim) {
    claim.createRevision = put(claim.key);
    return claim.key;
  }

  private long put(String key) {
    return gateway.txn(Txn.of(Txn.put(key, "", 0))).join().revision();
  }

  @Test
  void p2_tokensOnlyGrow_aKeyThatALateCopyMadeAnewGrantsNothing() {
    LocalClaim ended = waiter(0);
    ended.createRevision = put(ended.key);
    gateway.txn(Txn.of(Txn.delete(ended.key))).join();
    bells.await(ended, waitsAt(put(ended.key)));
    LocalClaim next = waiter(0);
    next.createRevision = put(next.key);
    bells.await(next, waitsAt(next.createRevision));
    await().until(() -> bells.lengthOf("lock0") == 2);

    gateway.txn(Txn.of(Txn.delete(ended.key))).join();

    await().until(() -> granted.contains(next));
    assertThat(granted).containsExactly(next);
  }
}
