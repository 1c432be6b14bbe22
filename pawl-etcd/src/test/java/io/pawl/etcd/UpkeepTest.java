package io.pawl.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class UpkeepTest {

  @Test
  void whatComesWhileARoundFindsNothingIsLookedAfterByTheNext() throws Exception {
    CountDownLatch rounds = new CountDownLatch(2);
    Upkeep[] self = new Upkeep[1];
    try (Upkeep upkeep =
        new Upkeep(
            now -> {
              rounds.countDown();
              if (rounds.getCount() == 1) {
                self[0].wake();
              }
              return 0;
            })) {
      self[0] = upkeep;
      upkeep.wake();
      assertThat(rounds.await(20, TimeUnit.SECONDS)).isTrue();
    }
  }
}
