package io.pawl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.error.LeaseLostException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.memory.MemoryStore;
import io.pawl.options.LockOptions;
import io.pawl.options.PawlOptions;
import io.pawl.spi.Claim;
import io.pawl.spi.LockStore;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A store that shares a hold, and says so when its client has lost patience. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LateDowngradeTest {

  private static final PawlOptions IMPATIENT =
      PawlOptions.defaults().patience(Duration.ofMillis(200));

  private static final LockOptions BRIEF =
      LockOptions.defaults().lease(Duration.ofSeconds(1)).renewal(false);

  private final MemoryStore memory = new MemoryStore();
  private final CompletableFuture<Void> late = new CompletableFuture<>();

  private LockStore store() {
    return TwistedStore.of(
        memory,
        (verb, arguments, usual) -> {
          Object answer = usual.answer();
          return verb.equals("attempt") && ((Claim) arguments[0]).mode() == Mode.SHARED
              ? late.thenCompose(nothing -> standing(answer))
              : answer;
        });
  }

  @SuppressWarnings("unchecked")
  private static CompletionStage<Standing> standing(Object answer) {
    return (CompletionStage<Standing>) answer;
  }

  @Test
  void aDowngradeThatFailedMayBeRepeatedThoughTheStoreHasMadeIt() {
    try (Pawl pawl = Pawl.over(store(), IMPATIENT)) {
      Lease lease = pawl.readWriteLock("lock").writeLock().tryAcquire().orElseThrow();
      assertThatThrownBy(lease::downgrade).isInstanceOf(StoreUnavailableException.class);
      late.complete(null);

      lease.downgrade();

      assertThat(lease.isShared()).isTrue();
      assertThat(lease.downgradeAsync()).isCompleted();
      lease.close();
      assertThatThrownBy(lease::downgrade).isInstanceOf(IllegalStateException.class);
    }
  }

  @Test
  void anUnlockWhoseDowngradeFailedMayBeRepeatedThoughTheStoreHasMadeIt() {
    try (Pawl pawl = Pawl.over(store(), IMPATIENT)) {
      JavaReadWriteLock both = pawl.readWriteLock("lock").asJavaReadWriteLock();
      both.writeLock().lock();
      both.readLock().lock();
      assertThatThrownBy(both.writeLock()::unlock).isInstanceOf(StoreUnavailableException.class);
      late.complete(null);

      both.writeLock().unlock();

      assertThatThrownBy(both.writeLock()::unlock).isInstanceOf(IllegalMonitorStateException.class);
      both.readLock().unlock();
      assertThat(pawl.readWriteLock("lock").writeLock().tryAcquire()).isPresent();
    }
  }

  @Test
  void p5_aDowngradeThatWasAnsweredAfterTheLossIsToldOfItWheneverItIsRepeated() {
    try (Pawl pawl = Pawl.over(store())) {
      Lease lease = pawl.readWriteLock("lock", BRIEF).writeLock().tryAcquire().orElseThrow();
      lease.onLost(() -> late.complete(null));
      assertThatThrownBy(lease::downgrade).isInstanceOf(LeaseLostException.class);

      assertThatThrownBy(lease::downgrade).isInstanceOf(LeaseLostException.class);
    }
  }

  @Test
  void p5_anUnlockWhoseDowngradeWasAnsweredAfterTheLossIsToldOfItWheneverItIsRepeated() {
    try (Pawl pawl = Pawl.over(store())) {
      JavaReadWriteLock both = pawl.readWriteLock("lock", BRIEF).asJavaReadWriteLock();
      both.writeLock().lock();
      both.readLock().lock();
      both.readLock().onLost(() -> late.complete(null));
      assertThatThrownBy(both.writeLock()::unlock).isInstanceOf(LeaseLostException.class);

      assertThatThrownBy(both.writeLock()::unlock).isInstanceOf(LeaseLostException.class);
      assertThatThrownBy(both.readLock()::unlock).isInstanceOf(LeaseLostException.class);
      assertThat(both.readLock().isHeldByCurrentThread()).isFalse();
    }
  }
}
