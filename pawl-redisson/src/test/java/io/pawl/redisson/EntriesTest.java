package io.pawl.redisson;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import org.junit.jupiter.api.Test;

class EntriesTest {

  private static final int NAMES = 200;

  private final Entries entries = new Entries();

  @Test
  void aThreadForgetsWhatItEnteredForATimeAndNeverLeft() {
    for (int i = 0; i < NAMES; i++) {
      entries.entered("n" + i, MILLISECONDS.toNanos(1));
    }
    await().pollInSameThread().until(() -> entries.of("n" + (NAMES - 1)) == 0);

    for (int i = 0; i < NAMES; i++) {
      entries.entered("next", 0);
      entries.left("next");
    }

    assertThat(entries.size()).isZero();
  }

  @Test
  void whatWasEnteredForNoTimeIsKeptUntilItIsLeft() {
    entries.entered("job", 0);
    for (int i = 0; i < NAMES; i++) {
      entries.entered("n" + i, MILLISECONDS.toNanos(1));
    }
    assertThat(entries.of("job")).isEqualTo(1);

    entries.left("job");

    assertThat(entries.of("job")).isZero();
  }
}
