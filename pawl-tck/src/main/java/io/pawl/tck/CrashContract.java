package io.pawl.tck;

import static io.pawl.tck.rig.SecondProcess.token;
import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.error.StoreUnavailableException;
import io.pawl.options.LockOptions;
import io.pawl.options.PawlOptions;
import io.pawl.spi.LockStore;
import io.pawl.spi.StoreUrl;
import io.pawl.spi.Stores;
import io.pawl.tck.rig.Bench;
import io.pawl.tck.rig.Bench.Running;
import io.pawl.tck.rig.FencedRegister;
import io.pawl.tck.rig.SecondProcess;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The promises of a lock when the process of a holder or waiter ends, dies or stands still. For
 * stores that another process reaches by URL; runs on systems that have {@code kill}.
 */
public abstract class CrashContract extends StoreContract {

  private Pawl pawl;

  /** For subclasses. */
  @SuppressWarnings("NullAway.Init") // the client is opened when the subclass is ready for it
  protected CrashContract() {}

  /** Returns the URL at which this process and others find the service. */
  protected abstract String url();

  @Override
  protected LockStore openStore() {
    return Stores.open(StoreUrl.parse(url()));
  }

  /** The lease of processes that die, long enough to be renewed in time while they live. */
  private String lease() {
    return Long.toString(shortLease().multipliedBy(5).toMillis());
  }

  private static String longLease() {
    return Long.toString(Bench.LONG_LEASE.toMillis());
  }

  @BeforeEach
  final void openTheFirstClient() {
    pawl = bench.keep(Pawl.connect(url(), PawlOptions.defaults()));
  }

  /**
   * Returns how often a process is stopped anew until the store answers others. More than once is
   * for a store that says of itself that a process which stands in the middle of a write keeps
   * everybody out.
   */
  protected int mostStops() {
    return 1;
  }

  private void stop(SecondProcess other) throws Exception {
    other.stop();
    for (int stops = 1; stops < mostStops() && !answers(); stops++) {
      other.resume();
      Awaitility.await().atMost(Bench.PATIENCE).until(this::answers);
      other.stop();
    }
  }

  private boolean answers() {
    try {
      pawl.lock(bench.lock("free"), Bench.LONG).tryAcquire().orElseThrow().close();
      return true;
    } catch (StoreUnavailableException e) {
      return false;
    }
  }

  private SecondProcess startAnother() throws IOException {
    return bench.keep(SecondProcess.start(url()));
  }

  private Lease acquire(String lock) throws InterruptedException {
    return pawl.lock(lock, Bench.LONG).tryAcquire(Bench.PATIENCE).orElseThrow();
  }

  private interface End {
    void of(SecondProcess process) throws Exception;
  }

  @Test
  void p8_nothingLeftBehind_systemExitGivesBackWhatHoldersClose() throws Exception {
    assertGivesBackAtOnce(SecondProcess::exit);
  }

  /** No thread of Pawl's, nor of a driver's, keeps the process. */
  @Test
  void p8_nothingLeftBehind_theEndOfTheLastThreadGivesBackWhatHoldersClose() throws Exception {
    assertGivesBackAtOnce(SecondProcess::endOfOrders);
  }

  @Test
  void p8_nothingLeftBehind_sigtermGivesBackWhatHoldersClose() throws Exception {
    assertGivesBackAtOnce(SecondProcess::terminate);
  }

  @Test
  void p1_oneHolder_sigtermLetsNobodyInBesideABodyThatGoesOn() throws Exception {
    String held = bench.lock("stubborn");
    SecondProcess other = startAnother();
    token(other.order("stubborn", held, longLease()));

    other.terminate();

    assertThat(pawl.lock(held, Bench.LONG).tryAcquire()).isEmpty();
  }

  private void assertGivesBackAtOnce(End end) throws Exception {
    String held = bench.lock("held");
    String busy = bench.lock("busy");
    Lease lease = acquire(busy);
    SecondProcess other = startAnother();
    long token = token(other.order("acquire", held, longLease()));
    assertThat(other.order("wait", busy, longLease())).isEqualTo("waiting");

    end.of(other);

    // no claim runs out meanwhile; a store that is slow for once is no reason to fail
    Lease next = pawl.lock(held, Bench.LONG).tryAcquire(Bench.PATIENCE).orElseThrow();
    assertThat(next.token()).isGreaterThan(token);
    lease.close();
    assertThat(pawl.lock(busy, Bench.LONG).tryAcquire(Bench.PATIENCE)).isPresent();
  }

  @Test
  void p6_someoneGetsIn_aKilledHolderDelaysOthersByItsLeaseAtMost() throws Exception {
    String lock = bench.lock("killed");
    SecondProcess other = startAnother();
    long token = token(other.order("acquire", lock, lease()));
    assertThat(pawl.lock(lock, Bench.LONG).tryAcquire()).isEmpty();

    other.kill();

    assertThat(acquire(lock).token()).isGreaterThan(token);
  }

  @Test
  void p6_someoneGetsIn_aKilledWaiterDelaysOthersByItsLeaseAtMost() throws Exception {
    String lock = bench.lock("killedWaiter");
    Lease lease = acquire(lock);
    SecondProcess other = startAnother();
    assertThat(other.order("wait", lock, lease())).isEqualTo("waiting");
    Running<Lease> behind = bench.start(() -> pawl.lock(lock, Bench.LONG.strictOrder()).acquire());

    other.kill();
    lease.close();

    assertThat(behind.result().token()).isGreaterThan(lease.token());
  }

  @Test
  void p6_someoneGetsIn_aKilledWaiterCostsItsLeaseThoughItWantedALongHold() throws Exception {
    String lock = bench.lock("killedLasting");
    Lease lease = acquire(lock);
    SecondProcess other = startAnother();
    assertThat(other.order("wait", lock, lease(), longLease())).isEqualTo("waiting");
    Running<Lease> behind = bench.start(() -> pawl.lock(lock, Bench.LONG.strictOrder()).acquire());

    other.kill();
    lease.close();

    assertThat(behind.result().token()).isGreaterThan(lease.token());
  }

  @Test
  void aKilledHolderKeepsTheLockForItsShortestHold() throws Exception {
    String lock = bench.lock("killedHolder");
    Duration shortest = bench.shortLease().multipliedBy(10);
    String minHold = Long.toString(shortest.toMillis());
    Lease lease = acquire(lock);
    SecondProcess other = startAnother();
    assertThat(other.order("wait", lock, lease(), minHold)).isEqualTo("waiting");
    long releasedAt = System.nanoTime();
    lease.close();
    long token = token(other.reply());

    other.kill();

    assertThat(acquire(lock).token()).isGreaterThan(token);
    Bench.assertKeptFor(shortest, releasedAt);
  }

  @Test
  void p5_lossIsTold_onceToAProcessThatStoodStill() throws Exception {
    String lock = bench.lock("stopped");
    SecondProcess other = startAnother();
    long token = token(other.order("acquire", lock, lease()));
    assertThat(other.order("valid")).isEqualTo("true 0");

    stop(other);
    Lease next = acquire(lock);
    other.resume();

    assertThat(other.order("valid")).isEqualTo("false 1");
    assertThat(other.order("close")).isEqualTo("lost");
    assertThat(other.order("valid")).isEqualTo("false 1");
    assertThat(next.token()).isGreaterThan(token);
    assertThat(next.isValid()).isTrue();
    assertThat(pawl.lock(lock, LockOptions.defaults()).tryAcquire()).isEmpty();
    next.close();
    assertThat(token(other.order("acquire", lock, lease()))).isGreaterThan(next.token());
  }

  @Test
  void p3_fencedSafety_aWriteOfAProcessThatStoodStillIsRefused(@TempDir Path directory)
      throws Exception {
    String lock = bench.lock("fenced");
    Path register = directory.resolve("register");
    SecondProcess other = startAnother();
    token(other.order("acquire", lock, lease()));

    stop(other);
    Lease next = acquire(lock);
    assertThat(new FencedRegister(register).write(next.token())).isTrue();
    other.resume();

    assertThat(other.order("write", register.toString())).isEqualTo("refused");
  }

  @Test
  void p1_oneHolder_aWaiterThatStoodStillGetsNoLeaseThatHasEnded() throws Exception {
    String lock = bench.lock("stoppedWaiter");
    Lease lease = acquire(lock);
    SecondProcess other = startAnother();
    assertThat(other.order("wait", lock, lease())).isEqualTo("waiting");

    stop(other);
    lease.close();
    Lease next = acquire(lock);
    other.resume();
    next.ensureValid();
    next.close();

    assertThat(token(other.reply())).isGreaterThan(next.token());
    assertThat(other.order("valid")).isEqualTo("true 0");
  }

  @Test
  void p2_tokensOnlyGrow_acrossProcessesThatAreKilled() throws Exception {
    String lock = bench.lock("tokens");
    long last = 0;
    for (int i = 0; i < 2; i++) {
      SecondProcess other = startAnother();
      long token = token(other.order("acquire", lock, lease()));
      assertThat(token).isGreaterThan(last);
      last = token;
      other.kill();
    }
    assertThat(acquire(lock).token()).isGreaterThan(last);
  }

  @Test
  void p1_oneHolder_twoProcessesNeverMeet(@TempDir Path directory) throws Exception {
    String lock = bench.lock("loop");
    SecondProcess other = startAnother();
    String[] order = {"loop", lock, directory.toString(), "40"};
    Running<String> looping = bench.start(() -> other.order(order));
    for (int i = 0; i < 40; i++) {
      try (Lease lease = acquire(lock)) {
        FencedRegister.visit(lease, directory);
      }
    }
    assertThat(looping.result()).isEqualTo("looped");
  }
}
