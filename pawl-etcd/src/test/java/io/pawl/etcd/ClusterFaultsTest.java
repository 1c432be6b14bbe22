package io.pawl.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.error.StoreException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.options.LockOptions;
import io.pawl.options.PawlOptions;
import io.pawl.servers.EtcdCluster;
import io.pawl.servers.EtcdServer;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Members that die, stand still and come back. */
class ClusterFaultsTest {

  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final EtcdCluster cluster = EtcdCluster.start(Urls.QUICK);
  private final Pawl here = connect("?timeout=500ms");
  private final Pawl there = connect("");
  private final EtcdStore store =
      EtcdStore.connect("etcd://" + cluster.addresses() + "?timeout=300ms");

  private Pawl connect(String parameters) {
    return Pawl.connect(
        "etcd://" + cluster.addresses() + "/pawl" + parameters,
        PawlOptions.defaults().patience(Duration.ofSeconds(20)).shutdownGrace(Duration.ZERO));
  }

  @AfterEach
  void close() {
    cluster.members().stream().filter(EtcdServer::isAlive).forEach(EtcdServer::resume);
    here.close();
    there.close();
    store.close();
    cluster.close();
  }

  @Test
  void p5_lossIsTold_neverForALeaderThatIsKilled() throws Exception {
    AtomicInteger lost = new AtomicInteger();
    Lease lease = here.lock("killed").acquire();
    lease.onLost(lost::incrementAndGet);

    EtcdServer leader = cluster.leader();
    leader.kill();

    try (Lease other = there.lock("afterwards").acquire()) {
      assertThat(other.isValid()).isTrue();
    }
    assertThat(there.lock("killed").tryAcquire()).isEmpty();
    assertThat(lease.isValid()).isTrue();
    lease.close();
    try (Lease next = there.lock("killed").acquire()) {
      assertThat(next.token()).isGreaterThan(lease.token());
    }
    assertThat(lost).hasValue(0);
    cluster.restart(List.of(leader));
    here.lock("killed").acquire().close();
  }

  @Test
  void p1_oneHolder_aLeaderThatStoodStillForTenSecondsChangesNothing() throws Exception {
    LockOptions options = LockOptions.defaults().lease(Duration.ofSeconds(3));
    AtomicInteger lost = new AtomicInteger();
    Lease lease = here.lock("stopped", options).acquire();
    lease.onLost(lost::incrementAndGet);
    EtcdServer leader = cluster.leader();

    leader.pause();
    long pausedAt = System.nanoTime();
    await()
        .atMost(PATIENCE)
        .ignoreException(StoreUnavailableException.class)
        .until(
            () -> {
              if (lease.isValid()) {
                assertThat(there.lock("stopped", options).tryAcquire()).isEmpty();
              }
              return System.nanoTime() - pausedAt > 10_000_000_000L;
            });
    leader.resume();

    long resumedAt = System.nanoTime();
    await()
        .atMost(PATIENCE)
        .ignoreException(StoreUnavailableException.class)
        .until(
            () -> {
              boolean valid = lease.isValid();
              boolean free =
                  there.lock("stopped", options).tryAcquire().map(this::closed).orElse(false);
              assertThat(valid && free && lease.isValid()).isFalse();
              return System.nanoTime() - resumedAt > 5_000_000_000L;
            });
    assertThat(lease.isValid()).as("renewed through the other members").isTrue();
    assertThat(lost).hasValue(0);
    lease.close();
  }

  private boolean closed(Lease lease) {
    lease.close();
    return true;
  }

  @Test
  void p1_oneHolder_withoutAMajorityIsAnErrorNeverBusy() throws Exception {
    here.lock("majority").acquire().close();
    List<EtcdServer> two = cluster.members().subList(0, 2);
    two.forEach(EtcdServer::kill);
    EtcdServer alone = cluster.members().get(2);
    String url = "etcd://" + alone.host() + ":" + alone.port() + "?timeout=300ms";
    assertThatThrownBy(() -> EtcdStore.connect(url)).isInstanceOf(StoreException.class);
    PawlOptions impatient = PawlOptions.defaults().patience(Duration.ofMillis(700));

    try (Pawl left = Pawl.over(store, impatient)) {
      assertThatThrownBy(() -> left.lock("majority").tryAcquire())
          .isInstanceOf(StoreException.class);
      cluster.restart(two);
      left.lock("majority").acquire().close();
    }
  }

  @Test
  void p6_someoneGetsIn_onceAllMembersAreBack_andMeanwhileAnOutageCostsLittle() throws Exception {
    LockOptions options = LockOptions.defaults().lease(Duration.ofSeconds(30));
    Lease lease = there.lock("outage", options).acquire();
    var waiting = here.lock("outage", options).tryAcquireAsync(Duration.ofMinutes(1));
    await().until(() -> there.inspect("outage").waiters().size() == 1);
    cluster.members().forEach(EtcdServer::kill);

    long cpu = cpuNanos();
    long from = System.nanoTime();
    await()
        .atMost(PATIENCE)
        .pollInterval(Duration.ofMillis(500))
        .until(() -> System.nanoTime() - from > 10_000_000_000L);
    double share = (double) (cpuNanos() - cpu) / (System.nanoTime() - from);
    assertThat(share).as("share of a processor").isLessThan(0.2);
    cluster.restart(cluster.members());

    assertThat(lease.isValid()).isTrue();
    lease.close();
    try (Lease next = waiting.get(30, TimeUnit.SECONDS).orElseThrow()) {
      assertThat(next.token()).isGreaterThan(lease.token());
    }
  }

  private static long cpuNanos() {
    return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
        .getProcessCpuTime();
  }
}
