package io.pawl.tck.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.error.StoreDeniedException;
import io.pawl.error.StoreException;
import io.pawl.options.LockOptions;
import io.pawl.options.PawlOptions;
import io.pawl.tck.rig.Bench;
import io.pawl.tck.rig.FaultyStore;
import io.pawl.tck.rig.FaultyStore.Fault;
import io.pawl.tck.rig.FaultyStore.Verb;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A store that cannot be reached, refuses us, or comes back. */
public abstract class StoreDownCases extends LockCases {

  private static final Duration PATIENCE = Duration.ofMillis(100);

  protected StoreDownCases(Bench bench) {
    super(bench);
  }

  private Pawl impatient() {
    return bench.over(network, PawlOptions.defaults().patience(PATIENCE));
  }

  @Test
  void p1_oneHolder_aStoreThatIsDownIsAnErrorNeverBusy() {
    var lock = impatient().lock(bench.lock("down"), Bench.LONG);
    var strict = impatient().lock(bench.lock("downStrict"), Bench.LONG.strictOrder());
    network.cut();

    for (var each : List.of(lock, strict)) {
      assertThatThrownBy(() -> bench.start(() -> each.tryAcquire()).result())
          .isInstanceOf(StoreException.class)
          .hasMessageNotContaining("null");
      assertThatThrownBy(() -> each.tryAcquire(Duration.ofMinutes(1)))
          .isInstanceOf(StoreException.class);
      assertThatThrownBy(() -> each.tryAcquire(Duration.ofMillis(50)))
          .isInstanceOf(StoreException.class);
      assertThatThrownBy(() -> bench.start(() -> each.acquire()).result())
          .isInstanceOf(StoreException.class);
      for (Duration wait : new Duration[] {Duration.ZERO, PATIENCE.dividedBy(4), Bench.PATIENCE}) {
        CompletableFuture<Optional<Lease>> future = each.tryAcquireAsync(wait);
        assertThatThrownBy(() -> future.get(20, TimeUnit.SECONDS))
            .isInstanceOf(ExecutionException.class)
            .hasCauseInstanceOf(StoreException.class);
      }
      assertThatThrownBy(() -> each.asJavaLock().tryLock()).isInstanceOf(StoreException.class);
      assertThatThrownBy(() -> each.asJavaLock().lock()).isInstanceOf(StoreException.class);
    }
  }

  @Test
  void p1_oneHolder_aStoreThatDoesNotAnswerIsAnErrorNeverBusy() {
    FaultyStore silent = bench.keep(new FaultyStore(bench.store()));
    silent.on(Verb.ATTEMPT, Fault.HOLD_REQUEST);
    Duration wait = Duration.ofMillis(50);
    var lock = bench.over(silent).lock(bench.lock("silent"), Bench.LONG);

    assertThatThrownBy(() -> lock.tryAcquire(wait)).isInstanceOf(StoreException.class);
    assertThatThrownBy(() -> lock.tryAcquireAsync(wait).get(20, TimeUnit.SECONDS))
        .hasCauseInstanceOf(StoreException.class);
  }

  @Test
  void p6_someoneGetsIn_anOutageShorterThanThePatienceIsWaitedOut() throws Exception {
    String lock = bench.lock("outage");
    network.next(Verb.ATTEMPT, Fault.LOSE_REQUEST, Fault.LOSE_REQUEST, Fault.LOSE_REPLY);

    assertThat(lockHere(lock).tryAcquire()).isPresent();
    assertThat(network.calls(Verb.ATTEMPT)).isEqualTo(4);
  }

  @Test
  void p6_someoneGetsIn_theLockIsFreeOnceTheStoreIsBack() {
    String lock = bench.lock("back");
    Pawl client = impatient();
    network.on(Verb.ATTEMPT, Fault.LOSE_REPLY).on(Verb.WITHDRAW, Fault.LOSE_REQUEST);
    assertThatThrownBy(() -> client.lock(lock, Bench.LONG).tryAcquire())
        .isInstanceOf(StoreException.class);
    assertThat(lockThere(lock).tryAcquire()).isEmpty();

    network.heal();

    assertComesFree(lock);
    assertThat(client.lock(lock, Bench.LONG).tryAcquire()).isPresent();
  }

  @Test
  void p8_nothingLeftBehind_aReleaseWithTheStoreDownReturnsAndIsDoneLater() throws Exception {
    String lock = bench.lock("release");
    Lease lease = impatient().lock(lock, Bench.LONG).acquire();
    network.cut();

    lease.close();

    assertThat(lease.isValid()).isFalse();
    assertThat(lockThere(lock).tryAcquire()).isEmpty();
    network.heal();
    assertComesFree(lock);
  }

  @Test
  void p1_oneHolder_aStoreThatDeniesUsIsAskedOnce() {
    String lock = bench.lock("denied");
    network.on(Verb.ATTEMPT, Fault.DENY);

    assertThatThrownBy(() -> lockHere(lock).acquire()).isInstanceOf(StoreDeniedException.class);
    assertThatThrownBy(() -> lockHere(lock).tryAcquire()).isInstanceOf(StoreDeniedException.class);

    assertThat(network.calls(Verb.ATTEMPT)).isEqualTo(2);
  }

  @Test
  void p1_oneHolder_aStoreThatBreaksIsAnErrorNotBusy() {
    String lock = bench.lock("broken");
    network.on(Verb.ATTEMPT, Fault.THROW);

    assertThatThrownBy(() -> lockHere(lock).acquire())
        .isInstanceOf(StoreException.class)
        .hasMessageContaining(lock);
    assertThatThrownBy(() -> lockHere(lock).tryAcquire()).isInstanceOf(StoreException.class);
  }

  @Test
  void p6_someoneGetsIn_anErrorOutOfTheStoreIsToldAndLeavesTheLockUsable() throws Exception {
    String lock = bench.lock("error");
    for (boolean waits : new boolean[] {true, false}) {
      network.next(Verb.ATTEMPT, Fault.THROW_ERROR);
      assertThatThrownBy(
              () -> bench.start(() -> waits ? lockHere(lock).acquire() : tryHere(lock)).result())
          .isInstanceOf(StoreException.class)
          .hasMessageContaining(lock)
          .hasCauseInstanceOf(NoClassDefFoundError.class);

      lockHere(lock).tryAcquire().orElseThrow().close();
    }
  }

  private Lease tryHere(String lock) {
    return lockHere(lock).tryAcquire().orElseThrow();
  }

  @Test
  void p5_lossIsTold_aRenewalThatThrowsAnErrorIsTriedAgain() throws Exception {
    LockOptions lives = LockOptions.defaults().lease(bench.shortLease().multipliedBy(5));
    Lease lease = here.lock(bench.lock("errorAgain"), lives).acquire();
    network.next(Verb.RENEW, Fault.THROW_ERROR, Fault.THROW_ERROR);

    Bench.eventually(() -> network.answers(Verb.RENEW) > 1 || !lease.isValid());

    assertThat(lease.isValid()).isTrue();
  }

  @Test
  void p8_nothingLeftBehind_closeReturnsThoughTheStoreIsDown() throws Exception {
    String lock = bench.lock("closeDown");
    Lease lease = here.lock(lock, bench.shortLived()).acquire();
    network.cut();

    boolean closed =
        bench
            .start(
                () -> {
                  here.close();
                  return true;
                })
            .result();

    assertThat(closed).isTrue();
    assertThat(lease.isValid()).isFalse();
    assertComesFree(lock);
  }
}
