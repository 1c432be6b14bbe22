package io.pawl.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.concurrent.Time;
import java.util.Random;
import org.junit.jupiter.api.Test;

class TokenClockTest {

  private static final long SECOND = 1_000_000_000L;

  private long wallMillis = 1_790_000_000_000L;
  private long nanos = SECOND;

  private final TokenClock clock =
      new TokenClock(
          new Time() {
            @Override
            public long nanos() {
              return nanos;
            }

            @Override
            public long wallMillis() {
              return wallMillis;
            }

            @Override
            public Pending after(long delayNanos, Runnable task) {
              throw new UnsupportedOperationException();
            }
          },
          new Random(1));

  /** Two tokens a microsecond. */
  private long shown() {
    return wallMillis * 2_000;
  }

  @Test
  void aFloorIsAboveTheLatestClockThatWasSeen() {
    assertThat(clock.floor()).isZero();
    clock.above(shown(), 0);
    clock.above(shown() - 1_000, 0);
    nanos += SECOND;
    wallMillis += 1_000;
    assertThat(clock.floor()).isGreaterThan(shown());
  }

  @Test
  void aFloorIsFoundAgainAfterAllClocksWereSetBack() {
    clock.above(shown(), 0);
    wallMillis -= 15_000;
    assertThat(clock.floor()).isZero();
    clock.above(shown(), 0);
    assertThat(clock.floor()).isBetween(shown(), shown() + 200_000);
  }
}
