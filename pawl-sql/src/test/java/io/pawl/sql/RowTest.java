package io.pawl.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.GrantRule;
import io.pawl.spi.Holder;
import io.pawl.spi.LockState;
import io.pawl.spi.Mode;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class RowTest {

  private static final long NOW = 1_800_000_000_123L;

  @Test
  void everythingInAStateSurvivesItsRow() {
    LockState state = new LockState("näme \"quoted\" 'x'", 41);
    GrantRule.attempt(state, claim(1, Mode.SHARED, 5), NOW);
    GrantRule.attempt(state, claim(2, Mode.SHARED, 1), NOW);
    GrantRule.attempt(state, claim(3, Mode.EXCLUSIVE, 1), NOW);
    GrantRule.attempt(state, claim(4, new Mode.Permits(2, 3), 1), NOW);
    GrantRule.withdraw(state, claim(5, Mode.EXCLUSIVE, 1).asUnsettled(), NOW);
    LockState read = Row.of(state).state(NOW);
    assertThat(read.lock()).isEqualTo(state.lock());
    assertThat(read.lastToken()).isEqualTo(47);
    assertThat(read.holders()).containsExactlyElementsOf(state.holders());
    assertThat(read.waiters()).containsExactlyElementsOf(state.waiters());
    assertThat(read.withdrawn()).isEqualTo(state.withdrawn());
    assertThat(Row.of(read)).isEqualTo(Row.of(state));
  }

  @Test
  void aClockThatWasSetBackCannotStretchALease() {
    LockState state = new LockState("x", 0);
    GrantRule.attempt(state, claim(1, Mode.EXCLUSIVE, 1), NOW);
    LockState read = Row.of(state).state(NOW - 600_000);
    assertThat(read.holders())
        .singleElement()
        .satisfies(entry -> assertThat(entry.until()).isEqualTo(NOW - 600_000 + 30_000));
  }

  @Test
  void anIdleLockIsThreeEmptyLists() {
    LockState state = new LockState("x", 7);
    assertThat(Row.of(state)).isEqualTo(new Row("x", 7, "[]", "[]", "[]"));
  }

  private static Claim claim(long number, Mode mode, int tokens) {
    Holder holder = new Holder("höst", 12, "main", "app\t\"1\"", "note \\ with 'quotes' 🔒");
    return new Claim(
        "x",
        new ClaimId("client", number),
        mode,
        Duration.ofSeconds(30),
        true,
        tokens,
        0,
        false,
        holder);
  }
}
