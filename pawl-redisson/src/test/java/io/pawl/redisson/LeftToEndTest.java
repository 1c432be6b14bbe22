package io.pawl.redisson;

import static java.util.concurrent.TimeUnit.DAYS;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.memory.MemoryStore;
import io.pawl.options.LockOptions;
import org.junit.jupiter.api.Test;

class LeftToEndTest {

  private static final int NAMES = 200;

  @Test
  void aThreadForgetsWhatItTookForATimeAndNeverUnlocked() throws Exception {
    try (Pawl pawl = Pawl.over(new MemoryStore())) {
      LeftToEnd leftToEnd = new LeftToEnd();
      for (int i = 0; i < NAMES; i++) {
        assertThat(lock(pawl, "n" + i, leftToEnd).tryLock(0, 100, MILLISECONDS)).isTrue();
      }
      await().until(() -> !pawl.inspect("n" + (NAMES - 1)).isHeld());

      for (int i = 0; i < NAMES; i++) {
        PawlRLock next = lock(pawl, "next", leftToEnd);
        next.lock(1_000, MILLISECONDS);
        next.unlock();
      }

      assertThat(leftToEnd.size()).isLessThanOrEqualTo(2);
      for (int i = 0; i < NAMES; i++) {
        assertThat(pawl.lock("n" + i).asJavaLock().isHeldByCurrentThread()).isFalse();
      }
    }
  }

  @Test
  void aThreadForgetsAtOnceWhatItTookForATimeAndUnlockedOrDidNotGet() throws Exception {
    try (Pawl pawl = Pawl.over(new MemoryStore())) {
      LeftToEnd leftToEnd = new LeftToEnd();
      PawlRLock lock = lock(pawl, "n", leftToEnd);
      lock.lock(10_000, MILLISECONDS);
      lock.lock(10_000, MILLISECONDS);
      lock.unlock();
      assertThat(leftToEnd.size()).isEqualTo(1);
      lock.unlock();
      assertThat(leftToEnd.size()).isZero();

      try (Lease other = pawl.lock("n").acquire()) {
        assertThat(lock.tryLock(0, 10_000, MILLISECONDS)).isFalse();
      }
      assertThat(leftToEnd.size()).isZero();
    }
  }

  @Test
  void aLeaseTimeThatIsRefusedLeavesNothingWithTheThread() {
    try (Pawl pawl = Pawl.over(new MemoryStore())) {
      LeftToEnd leftToEnd = new LeftToEnd();
      PawlRLock lock = lock(pawl, "n", leftToEnd);
      assertThatThrownBy(() -> lock.lock(1, MILLISECONDS))
          .isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> lock.tryLock(0, 30, DAYS))
          .isInstanceOf(IllegalArgumentException.class);
      assertThat(leftToEnd.size()).isZero();
    }
  }

  private static PawlRLock lock(Pawl pawl, String name, LeftToEnd leftToEnd) {
    return new PawlRLock(pawl, name, LockOptions.defaults(), leftToEnd, false);
  }
}
