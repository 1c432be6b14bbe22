package io.pawl.sql.lock;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Holder;
import io.pawl.spi.Kind;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import io.pawl.spi.rule.GrantRule;
import io.pawl.spi.rule.LockState;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class RowTest {

  private static final long NOW = 1_800_000_000_123L;

  @Test
  void everythingInAStateSurvivesItsRow() {
    LockState locks = new LockState("näme \"quoted\" 'x'", 41);
    GrantRule.attempt(locks, claim(1, Mode.SHARED, 5), NOW);
    GrantRule.attempt(locks, claim(2, Mode.SHARED, 1), NOW);
    GrantRule.attempt(locks, claim(3, Mode.EXCLUSIVE, 1), NOW);
    GrantRule.withdraw(locks, claim(5, Mode.EXCLUSIVE, 1).asUnsettled(), NOW);
    survives(locks);
    assertThat(Row.of(locks).kind()).isEqualTo("lock");
    LockState permits = new LockState("x", 0);
    GrantRule.attempt(permits, claim(1, new Mode.Permits(2, 3), 1), NOW);
    GrantRule.attempt(permits, claim(2, new Mode.Permits(3, 3), 1), NOW);
    survives(permits);
    assertThat(Row.of(permits).kind()).isEqualTo("semaphore of 3");
    survives(new LockState("x", 3));
  }

  @Test
  void aShortestHoldAndWhatIsLeftOfItSurviveTheirRow() {
    LockState state = new LockState("x", 0);
    Claim job = claim(1, Mode.EXCLUSIVE, 1).withMinHold(Duration.ofHours(1));
    GrantRule.attempt(state, job, NOW);
    GrantRule.attempt(state, claim(2, Mode.EXCLUSIVE, 1).withMinHold(Duration.ofHours(2)), NOW);
    survives(state);
    GrantRule.withdraw(state, job, NOW + 1);
    survives(state);
    assertThat(GrantRule.renew(Row.of(state).state(NOW + 2), job.id(), NOW + 2))
        .isEqualTo(Standing.GONE);
  }

  /** As rows were before claims had one. */
  @Test
  void aRowThatSaysNothingOfAShortestHoldHasNone() {
    LockState state = new LockState("x", 0);
    GrantRule.attempt(state, claim(1, Mode.EXCLUSIVE, 1), NOW);
    Row row = Row.of(state);
    assertThat(row.holders()).doesNotContain("minHold").doesNotContain("lingers");
    assertThat(row.state(NOW).holders())
        .singleElement()
        .satisfies(
            entry -> {
              assertThat(entry.minHoldMillis()).isZero();
              assertThat(entry.lingers()).isFalse();
            });
  }

  private static void survives(LockState state) {
    LockState read = Row.of(state).state(NOW);
    assertThat(read.lock()).isEqualTo(state.lock());
    assertThat(read.kind()).isEqualTo(state.kind());
    assertThat(read.lastToken()).isEqualTo(state.lastToken());
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
    Claim job = claim(2, Mode.EXCLUSIVE, 1).withMinHold(Duration.ofMinutes(1));
    LockState kept = new LockState("x", 0);
    GrantRule.attempt(kept, job, NOW);
    assertThat(Row.of(kept).state(NOW - 600_000).holders())
        .singleElement()
        .satisfies(entry -> assertThat(entry.until()).isEqualTo(NOW - 600_000 + 60_000));
  }

  @Test
  void anIdleLockIsThreeEmptyLists() {
    LockState state = new LockState("x", 7);
    assertThat(Row.of(state)).isEqualTo(new Row("x", "", 7, "[]", "[]", "[]"));
    assertThat(Row.of(new LockState("x", Kind.LOCK, 7)))
        .isEqualTo(new Row("x", "lock", 7, "[]", "[]", "[]"));
  }

  private static Claim claim(long number, Mode mode, int tokens) {
    Holder holder = new Holder("höst", 12, "main", "app\t\"1\"", "note \\ with 'quotes' 🔒");
    return new Claim(
        "x",
        new ClaimId("client", number),
        mode,
        Duration.ofSeconds(30),
        Duration.ZERO,
        true,
        tokens,
        0,
        false,
        holder);
  }
}
