package io.pawl.concurrent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.Test;

class BothLocksTest {

  @Test
  void whereTheFirstCannotSayWhetherItIsHeldNeitherIsKept() {
    ReentrantLock first = new ReentrantLock();
    ReentrantLock second = new ReentrantLock();
    BothLocks both =
        new BothLocks(
            first,
            second,
            () -> {
              throw new IllegalStateException("its client is closed");
            });

    assertThatThrownBy(both::lock).hasMessage("its client is closed");

    assertThat(second.isLocked()).isFalse();
    assertThat(first.isLocked()).isFalse();
  }
}
