package io.pawl;

import static io.pawl.ScriptedStore.held;
import static io.pawl.ScriptedStore.unavailable;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.ScriptedStore.Renewal;
import io.pawl.error.LeaseLostException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.options.LockOptions;
import io.pawl.options.PawlOptions;
import io.pawl.spi.Standing;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class ExtensionTest {

  private static final Duration LEASE = Duration.ofSeconds(3);

  private final ScriptedClient client =
      new ScriptedClient(PawlOptions.defaults().patience(Duration.ofMinutes(1)));
  private final ScriptedStore store = client.store();
  private final AtomicInteger losses = new AtomicInteger();

  private Lease granted(boolean renewal) {
    LockOptions options = LockOptions.defaults().lease(LEASE).renewal(renewal);
    var future =
        new DistributedLock(client.engine(), "lock", options).tryAcquireAsync(Duration.ofHours(1));
    store.attempt(0).answer().complete(held(1));
    client.pass(Duration.ZERO);
    Lease lease = future.join().orElseThrow();
    lease.onLost(losses::incrementAndGet);
    return lease;
  }

  private void passWithAnswers(Duration length) {
    for (long millis = 0; millis < length.toMillis(); millis += 100) {
      client.pass(Duration.ofMillis(100));
      store.answerRenewals(claim -> held(1));
    }
  }

  @Test
  void aLeaseThatIsNotRenewedIsExtendedByOneTrip() {
    Lease lease = granted(false);
    client.pass(Duration.ofSeconds(2));
    CompletableFuture<Void> extended = lease.extendAsync(Duration.ofSeconds(1));
    assertThat(store.renewals).hasSize(1);
    store.renewals.get(0).answerAll(held(1));
    client.pass(Duration.ZERO);
    assertThat(extended).isCompleted();
    assertThat(lease.remaining()).isGreaterThan(Duration.ofMillis(2900));
    passWithAnswers(Duration.ofMillis(2900));
    assertThat(lease.isValid()).isTrue();
    passWithAnswers(Duration.ofSeconds(1));
    assertThat(lease.isValid()).isFalse();
    assertThat(losses).hasValue(1);
    assertThat(store.renewals).hasSize(1);
  }

  @Test
  void anExtensionCountsFromItsRequestNotFromItsReply() {
    Lease lease = granted(false);
    lease.extendAsync(Duration.ofSeconds(1));
    client.pass(Duration.ofSeconds(2));
    store.renewals.get(0).answerAll(held(1));
    client.pass(Duration.ZERO);
    assertThat(lease.remaining()).isLessThan(Duration.ofSeconds(1));
  }

  @Test
  void aLongExtensionIsRenewedUntilItIsOverAndThenRunsOut() {
    Lease lease = granted(false);
    lease.extendAsync(Duration.ofSeconds(20));
    passWithAnswers(Duration.ofSeconds(20));
    assertThat(lease.isValid()).isTrue();
    passWithAnswers(LEASE);
    assertThat(lease.isValid()).isFalse();
    assertThat(losses).hasValue(1);
    int renewals = store.renewals.size();
    passWithAnswers(LEASE);
    assertThat(store.renewals).hasSize(renewals);
  }

  /** A loss is told shortly before the deadline, which alone reaches so far here. */
  @Test
  void anExtendedLeaseIsValidForAllOfThatLength() {
    Lease lease = granted(false);
    lease.extendAsync(Duration.ofMillis(2950));
    passWithAnswers(Duration.ofMillis(2900));
    client.pass(Duration.ofMillis(49));
    assertThat(losses).hasValue(0);
    assertThat(lease.isValid()).isTrue();
  }

  @Test
  void aShorterExtensionTakesNothingAway() {
    Lease lease = granted(false);
    lease.extendAsync(Duration.ofSeconds(20));
    passWithAnswers(Duration.ofSeconds(1));
    lease.extendAsync(Duration.ofMillis(1));
    passWithAnswers(Duration.ofSeconds(18));
    assertThat(lease.isValid()).isTrue();
  }

  @Test
  void anExtensionThatIsNotAnsweredIsRepeated() {
    Lease lease = granted(false);
    CompletableFuture<Void> extended = lease.extendAsync(Duration.ofSeconds(1));
    store.renewals.get(0).answer().completeExceptionally(unavailable());
    client.pass(Duration.ofMillis(200));
    assertThat(extended).isNotDone();
    assertThat(lease.isValid()).isTrue();
    store.answerRenewals(claim -> held(1));
    client.pass(Duration.ZERO);
    assertThat(extended).isCompleted();
  }

  @Test
  void anExtensionFindsOutThatTheLeaseIsLost() {
    Lease lease = granted(true);
    CompletableFuture<Void> extended = lease.extendAsync(Duration.ofSeconds(1));
    Renewal renewal = store.renewals.get(0);
    renewal.answer().complete(Map.of(renewal.claims().get(0).id(), Standing.GONE));
    client.pass(Duration.ZERO);
    assertThat(losses).hasValue(1);
    assertThat(extended)
        .failsWithin(Duration.ZERO)
        .withThrowableThat()
        .withCauseInstanceOf(LeaseLostException.class);
    assertThatThrownBy(() -> lease.extendAsync(LEASE)).isInstanceOf(LeaseLostException.class);
  }

  /** How often this thread has waited. */
  private static long waits() {
    long thread = Thread.currentThread().getId();
    return ManagementFactory.getThreadMXBean().getThreadInfo(thread).getWaitedCount();
  }

  /** A blocking call waits for them, for 1 s at most. */
  @Test
  void p5_whatDoesNotWaitHearsOfALossThoughItsCallbacksHaveNotBegun() {
    ScriptedClient busy = new ScriptedClient(PawlOptions.defaults(), task -> {});
    var future =
        new DistributedLock(busy.engine(), "lock", LockOptions.defaults().lease(LEASE))
            .tryAcquireAsync(Duration.ofHours(1));
    busy.store().attempt(0).answer().complete(held(1));
    busy.pass(Duration.ZERO);
    Lease lease = future.join().orElseThrow();
    lease.onLost(losses::incrementAndGet);
    busy.pass(LEASE);

    long waits = waits();
    assertThatThrownBy(() -> lease.extendAsync(LEASE)).isInstanceOf(LeaseLostException.class);
    assertThatThrownBy(lease::downgradeAsync).isInstanceOf(LeaseLostException.class);

    assertThat(waits()).isEqualTo(waits);
    assertThat(losses).hasValue(0);
  }

  @Test
  void aLeaseThatIsRenewedAnywayIsRenewedNow() {
    Lease lease = granted(true);
    client.pass(Duration.ofMillis(500));
    lease.extendAsync(Duration.ofMillis(1));
    store.renewals.get(0).answerAll(held(1));
    client.pass(Duration.ZERO);
    assertThat(lease.remaining()).isGreaterThan(Duration.ofMillis(2900));
    passWithAnswers(Duration.ofMinutes(1));
    assertThat(lease.isValid()).isTrue();
  }

  @Test
  void whatCannotBeExtendedIsRefused() {
    Lease lease = granted(true);
    assertThatThrownBy(() -> lease.extendAsync(Duration.ZERO))
        .isInstanceOf(IllegalArgumentException.class);
    lease.closeAsync();
    assertThatThrownBy(() -> lease.extendAsync(LEASE)).isInstanceOf(IllegalStateException.class);
    assertThat(store.renewals).isEmpty();
  }

  /** It may have others in line before this, as over a pool that hangs. */
  @Test
  void anExtensionAndADowngradeThatAreNotAnsweredFailWhenThePatienceIsOver() {
    ScriptedClient impatient =
        new ScriptedClient(PawlOptions.defaults().patience(Duration.ofSeconds(1)));
    var future =
        new DistributedLock(
                impatient.engine(), "lock", LockOptions.defaults().lease(LEASE).renewal(false))
            .tryAcquireAsync(Duration.ofHours(1));
    impatient.store().attempt(0).answer().complete(held(1));
    impatient.pass(Duration.ZERO);
    Lease lease = future.join().orElseThrow();
    CompletableFuture<Void> extended = lease.extendAsync(LEASE);
    CompletableFuture<Void> downgraded = lease.downgradeAsync();

    impatient.pass(Duration.ofMillis(900));
    assertThat(extended).isNotDone();
    impatient.pass(Duration.ofMillis(1_100));

    assertThat(lease.isValid()).isTrue();
    for (CompletableFuture<Void> each : List.of(extended, downgraded)) {
      assertThat(each)
          .failsWithin(Duration.ZERO)
          .withThrowableOfType(ExecutionException.class)
          .withCauseInstanceOf(StoreUnavailableException.class);
    }
  }
}
