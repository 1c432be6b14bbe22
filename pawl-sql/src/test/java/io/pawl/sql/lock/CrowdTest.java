package io.pawl.sql.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.error.StoreException;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Holder;
import io.pawl.spi.Kind;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import io.pawl.spi.rule.LockState;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class CrowdTest {

  private static final long NOW = 1_800_000_000_123L;

  /** Of a MEDIUMTEXT. */
  private static final int MOST_BYTES = (1 << 24) - 1;

  private static final String LONG = "x".repeat(Holder.MAX_LENGTH);

  private final LockState state = new LockState("many", 0);

  private static Claim claim(long number, Mode mode) {
    return new Claim(
        "many",
        new ClaimId("0123456789abcdefghijklmno", number),
        mode,
        Duration.ofSeconds(30),
        Duration.ZERO,
        true,
        1,
        0,
        false,
        new Holder(LONG, Integer.MAX_VALUE, LONG, LONG, LONG));
  }

  private void crowd(Mode mode) {
    for (int i = 0; i < Crowd.MAX_HOLDERS; i++) {
      assertThat(Crowd.attempt(state, claim(i, mode), NOW)).isInstanceOf(Standing.Held.class);
    }
  }

  @Test
  void oneHolderMoreThanARowTakesIsRefusedAndTheOthersStay() {
    Mode one = new Mode.Permits(1, 100_000);
    crowd(one);
    assertThat(Row.of(state).holders().getBytes(StandardCharsets.UTF_8))
        .hasSizeLessThan(MOST_BYTES);

    Claim tooMany = claim(Crowd.MAX_HOLDERS, one);
    assertThatThrownBy(() -> Crowd.attempt(state, tooMany, NOW))
        .isInstanceOf(StoreException.class)
        .hasMessageContaining("'many'");

    assertThat(state.holders()).hasSize(Crowd.MAX_HOLDERS);
    assertThat(state.kind()).isEqualTo(Kind.semaphore(100_000));
    assertThat(Crowd.attempt(state, claim(0, one), NOW)).isInstanceOf(Standing.Held.class);
    assertThat(Crowd.attempt(state, tooMany, NOW + 30_000)).isInstanceOf(Standing.Held.class);
  }

  @Test
  void whoWaitsForACrowdStandsInTheQueueAllTheSame() {
    crowd(Mode.SHARED);

    assertThat(Crowd.attempt(state, claim(Crowd.MAX_HOLDERS, Mode.EXCLUSIVE), NOW))
        .isInstanceOf(Standing.Waiting.class);
  }
}
