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
import io.pawl.spi.rule.GrantRule;
import io.pawl.spi.rule.LockState;
import io.pawl.spi.rule.LockState.Entry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StoredLockTest {

  private static final long NOW = 1_800_000_000_123L;

  private static final Holder HOLDER = new Holder("host", 12, "main", "app", "note");

  @Test
  void everythingInAStateSurvivesItsRows() {
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
    assertThat(GrantRule.renew(stored(state).state(NOW + 2), job.id(), NOW + 2))
        .isEqualTo(Standing.GONE);
  }

  /** Each says what is not as in the one before it. */
  @Test
  void claimsOfOneTextDifferInAnyFieldOrInNone() {
    List<Entry> entries = new ArrayList<>();
    entries.add(with(1, Mode.EXCLUSIVE, 9, 2, 7, HOLDER, NOW, NOW + 9, 0, 0, false));
    entries.add(with(2, Mode.SHARED, 9, 2, 7, HOLDER, NOW, NOW + 9, 0, 0, false));
    entries.add(with(3, Mode.SHARED, 8, 2, 7, HOLDER, NOW, NOW + 9, 0, 5, false));
    entries.add(with(4, Mode.SHARED, 8, 1, 7, HOLDER, NOW, NOW + 9, 0, 0, true));
    entries.add(with(5, Mode.SHARED, 8, 1, 0, HOLDER, NOW, NOW + 8, 3, 0, false));
    entries.add(with(6, Mode.SHARED, 8, 1, 0, HOLDER, NOW + 1, NOW + 8, 0, 0, false));
    entries.add(with(7, Mode.SHARED, 8, 1, 0, HOLDER, NOW + 1, NOW + 8, 0, 0, false));
    for (Holder holder :
        List.of(
            new Holder("other", 12, "main", "app", "note"),
            new Holder("other", 13, "main", "app", "note"),
            new Holder("other", 13, "", "app", "note"),
            new Holder("other", 13, "", "", "note"),
            new Holder("other", 13, "", "", ""))) {
      entries.add(
          with(entries.size() + 1, Mode.SHARED, 8, 1, 0, holder, NOW + 1, NOW + 8, 0, 0, false));
    }
    String plain = ClaimsText.write(entries.subList(11, 12));
    assertThat(plain).doesNotContain("application", "note", "\"tokens\"", "tokenFloor");
    assertThat(ClaimsText.read(plain)).containsExactly(entries.get(11));
    String text = ClaimsText.write(entries);
    assertThat(ClaimsText.read(text)).containsExactlyElementsOf(entries);
    assertThat(text)
        .startsWith("[{\"since\":")
        .containsOnlyOnce("other")
        .contains("{\"claim\":\"client.7\"}");
  }

  private static Entry with(
      long number,
      Mode mode,
      long lease,
      int tokens,
      long floor,
      Holder holder,
      long since,
      long until,
      long token,
      long minHold,
      boolean lingers) {
    return new Entry(
        new ClaimId("client", number),
        mode,
        lease,
        tokens,
        floor,
        holder,
        since,
        until,
        token,
        token,
        minHold,
        lingers);
  }

  /** As rows were before claims had one. */
  @Test
  void aRowThatSaysNothingOfAShortestHoldHasNone() {
    LockState state = new LockState("x", 0);
    GrantRule.attempt(state, claim(1, Mode.EXCLUSIVE, 1), NOW);
    Row row = Row.of(state);
    assertThat(row.holders()).doesNotContain("minHold").doesNotContain("lingers");
    assertThat(StoredLock.alone(row).state(NOW).holders())
        .singleElement()
        .satisfies(
            entry -> {
              assertThat(entry.minHoldMillis()).isZero();
              assertThat(entry.lingers()).isFalse();
            });
  }

  /** As an edit leaves it: well-formed, and nothing that a store has written. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "[null]",
        "[1]",
        "[\"a\"]",
        "[[]]",
        "[{\"a\":{}}]",
        "[{\"a\":[1]}]",
        "[{}]",
        "{}",
        "null",
        "[",
        ""
      })
  void aRowThatNoStoreHasWrittenIsRefused(String text) {
    assertThatThrownBy(() -> StoredLock.alone(new Row("x", "", 1, text, false, "[]")).state(NOW))
        .isInstanceOf(StoreException.class)
        .hasMessageContaining("cannot be read");
    assertThatThrownBy(() -> StoredLock.alone(new Row("x", "", 1, "[]", false, text)).state(NOW))
        .isInstanceOf(StoreException.class);
  }

  /** As a store that knew nothing of it writes it. */
  private static StoredLock stored(LockState state) {
    Changes changes = new Changes();
    Row none = Row.unknown(state.lock());
    changes.add(StoredLock.alone(none), state);
    return new StoredLock(
        changes.locks().isEmpty() ? none : changes.locks().get(0), changes.joined());
  }

  private static void survives(LockState state) {
    LockState read = stored(state).state(NOW);
    assertThat(read.lock()).isEqualTo(state.lock());
    assertThat(read.kind()).isEqualTo(state.kind());
    assertThat(read.lastToken()).isEqualTo(state.lastToken());
    assertThat(read.holders()).containsExactlyElementsOf(state.holders());
    assertThat(read.waiters()).containsExactlyElementsOf(state.waiters());
    assertThat(read.withdrawn()).isEqualTo(state.withdrawn());
    assertThat(stored(read)).isEqualTo(stored(state));
  }

  @Test
  void aClockThatWasSetBackCannotStretchALease() {
    LockState state = new LockState("x", 0);
    GrantRule.attempt(state, claim(1, Mode.EXCLUSIVE, 1), NOW);
    LockState read = stored(state).state(NOW - 600_000);
    assertThat(read.holders())
        .singleElement()
        .satisfies(entry -> assertThat(entry.until()).isEqualTo(NOW - 600_000 + 30_000));
    Claim job = claim(2, Mode.EXCLUSIVE, 1).withMinHold(Duration.ofMinutes(1));
    LockState kept = new LockState("x", 0);
    GrantRule.attempt(kept, job, NOW);
    assertThat(stored(kept).state(NOW - 600_000).holders())
        .singleElement()
        .satisfies(entry -> assertThat(entry.until()).isEqualTo(NOW - 600_000 + 60_000));
  }

  @Test
  void whoeverJoinsLeavesOrStaysWritesNoRowButItsOwn() {
    LockState state = new LockState("x", 0);
    GrantRule.attempt(state, claim(1, Mode.EXCLUSIVE, 1), NOW);
    StoredLock alone = stored(state);
    GrantRule.attempt(state, claim(4, Mode.EXCLUSIVE, 1), NOW);
    Changes first = change(alone, state);
    assertThat(first.areJoins()).isFalse();
    assertThat(first.locks()).singleElement().satisfies(row -> assertThat(row.queued()).isTrue());
    StoredLock held = stored(state);
    List<WaiterRow> rows = new ArrayList<>();
    rows.add(new WaiterRow(1, "x", first.joined().get(0).claims(), null));
    for (long number : List.of(2L, 3L)) {
      StoredLock before = new StoredLock(held.row(), List.copyOf(rows));
      LockState joined = before.state(NOW);
      GrantRule.attempt(joined, claim(number, Mode.EXCLUSIVE, 1), NOW);
      Changes change = change(before, joined);
      assertThat(change.areJoins()).isTrue();
      assertThat(change.joined()).singleElement().satisfies(row -> holds(row, number));
      rows.add(change.joined().get(0));
    }
    StoredLock before = new StoredLock(held.row(), List.copyOf(rows));

    LockState left = before.state(NOW);
    GrantRule.withdraw(left, claim(2, Mode.EXCLUSIVE, 1), NOW + 1);
    assertThat(change(before, left).locks()).isEmpty();
    assertThat(change(before, left).left()).hasSize(1);
    assertThat(change(before, left).joined()).isEmpty();
    assertThat(change(before, left).changed()).isEmpty();

    LockState stayed = before.state(NOW);
    GrantRule.renew(stayed, claim(3, Mode.EXCLUSIVE, 1).id(), NOW + 20_000);
    assertThat(change(before, stayed).locks()).isEmpty();
    assertThat(change(before, stayed).left()).isEmpty();
    assertThat(change(before, stayed).joined()).isEmpty();
    assertThat(change(before, stayed).changed()).singleElement().satisfies(row -> holds(row, 3));

    LockState asked = before.state(NOW);
    GrantRule.renew(asked, claim(3, Mode.EXCLUSIVE, 1).id(), NOW + 10_000);
    assertThat(change(before, asked).areNone()).isTrue();
  }

  @Test
  void thoseThatJoinAtOnceShareRowsAndLeaveThemOneByOne() {
    LockState state = new LockState("x", 0);
    for (int number = 0; number <= 40; number++) {
      GrantRule.attempt(state, claim(number, Mode.EXCLUSIVE, 1), NOW);
    }
    List<WaiterRow> rows = new ArrayList<>();
    for (WaiterRow row : stored(state).waiters()) {
      rows.add(new WaiterRow(rows.size() + 1, row.lock(), row.claims(), null));
    }
    assertThat(rows).extracting(row -> row.claims().size()).containsExactly(32, 8);
    StoredLock before = new StoredLock(stored(state).row(), rows);

    LockState after = before.state(NOW);
    GrantRule.withdraw(after, claim(1, Mode.EXCLUSIVE, 1), NOW + 1);
    GrantRule.withdraw(after, claim(20, Mode.EXCLUSIVE, 1), NOW + 1);
    for (int number = 33; number <= 40; number++) {
      GrantRule.withdraw(after, claim(number, Mode.EXCLUSIVE, 1), NOW + 1);
    }

    Changes change = change(before, after);
    assertThat(change.locks()).isEmpty();
    assertThat(change.joined()).isEmpty();
    assertThat(change.left()).containsExactly(2L);
    assertThat(change.changed()).extracting(WaiterRow::position).containsExactly(1L);
    assertThat(change.changed()).extracting(row -> row.claims().size()).containsExactly(30);
    assertThat(new StoredLock(before.row(), change.changed()).state(NOW).waiters())
        .containsExactlyElementsOf(after.waiters());
  }

  /** As an INSERT leaves it that comes once more, late. */
  @Test
  void aClaimThatStandsInTwoRowsWaitsOnceWhereItFirstStood() {
    LockState state = new LockState("x", 0);
    for (int number = 1; number <= 4; number++) {
      GrantRule.attempt(state, claim(number, Mode.EXCLUSIVE, 1), NOW);
    }
    StoredLock once = stored(state);
    List<Entry> claims = once.waiters().get(0).claims();
    StoredLock twice =
        new StoredLock(
            once.row(),
            List.of(
                new WaiterRow(1, "x", claims, null),
                new WaiterRow(2, "x", claims.subList(0, 1), null),
                new WaiterRow(3, "x", claims.subList(1, 3), null)));

    LockState read = twice.state(NOW);

    assertThat(read.waiters()).containsExactlyElementsOf(state.waiters());
    assertThat(change(twice, read).left()).containsExactly(2L, 3L);
    assertThat(change(twice, read).changed()).isEmpty();
    assertThat(change(twice, read).joined()).isEmpty();
  }

  /** The first copy may have been kept from its commit for longer than a lease. */
  @Test
  void aClaimThatStandsInTwoRowsWaitsUntilTheLaterTimeWhereItFirstStood() {
    LockState state = new LockState("x", 0);
    for (int number = 1; number <= 3; number++) {
      GrantRule.attempt(state, claim(number, Mode.EXCLUSIVE, 1), NOW);
    }
    StoredLock once = stored(state);
    List<Entry> claims = once.waiters().get(0).claims();
    Entry again = claims.get(0).endingBy(NOW + 1);
    StoredLock twice =
        new StoredLock(
            once.row(),
            List.of(
                new WaiterRow(1, "x", List.of(again), null),
                new WaiterRow(2, "x", List.of(claims.get(1)), null),
                new WaiterRow(3, "x", List.of(claims.get(0)), null)));

    LockState read = twice.state(NOW + 2);
    GrantRule.settle(read, NOW + 2);

    assertThat(read.waiters()).containsExactlyElementsOf(state.waiters());
    assertThat(change(twice, read).changed())
        .containsExactly(new WaiterRow(1, "x", List.of(claims.get(0)), null));
    assertThat(change(twice, read).left()).containsExactly(3L);
    assertThat(change(twice, read).joined()).isEmpty();
  }

  private static void holds(WaiterRow row, long number) {
    assertThat(row.claims())
        .extracting(claim -> claim.id().toString())
        .containsExactly("client." + number);
  }

  private static Changes change(StoredLock before, LockState after) {
    Changes changes = new Changes();
    changes.add(before, after);
    return changes;
  }

  @Test
  void aClaimThatWasWithdrawnBeforeItCameInLineIsNotThere() {
    LockState state = new LockState("x", 0);
    GrantRule.attempt(state, claim(1, Mode.EXCLUSIVE, 1), NOW);
    GrantRule.attempt(state, claim(2, Mode.EXCLUSIVE, 1), NOW);
    StoredLock before = stored(state);
    GrantRule.withdraw(state, claim(2, Mode.EXCLUSIVE, 1).asUnsettled(), NOW);

    LockState read = new StoredLock(Row.of(state), before.waiters()).state(NOW);

    assertThat(read.waiters()).isEmpty();
    assertThat(change(before, read).left()).hasSize(1);
  }

  /** As an INSERT leaves it that comes once more, when its claim was granted. */
  @Test
  void aClaimThatHoldsDoesNotStandInLineToo() {
    LockState state = new LockState("x", 0);
    GrantRule.attempt(state, claim(1, Mode.EXCLUSIVE, 1), NOW);
    GrantRule.attempt(state, claim(2, Mode.EXCLUSIVE, 1), NOW);
    StoredLock before = stored(state);
    GrantRule.withdraw(state, claim(1, Mode.EXCLUSIVE, 1), NOW);
    StoredLock late = new StoredLock(Row.of(state), before.waiters());

    LockState read = late.state(NOW);

    assertThat(read.waiters()).isEmpty();
    assertThat(change(late, read).left()).hasSize(1);
    assertThat(GrantRule.evict(read, state.lastToken(), NOW)).isTrue();
    assertThat(read.holders()).isEmpty();
  }

  @Test
  void aClaimThatJoinedALockAsItBecameASemaphoreIsNotThere() {
    LockState state = new LockState("x", 0);
    GrantRule.attempt(state, claim(1, Mode.EXCLUSIVE, 1), NOW);
    GrantRule.attempt(state, claim(2, Mode.EXCLUSIVE, 1), NOW);
    StoredLock before = stored(state);
    Row semaphore = Row.of(new LockState("x", Kind.semaphore(3), 1));

    LockState read = new StoredLock(semaphore, before.waiters()).state(NOW);

    assertThat(read.waiters()).isEmpty();
    assertThat(change(before, read).left()).hasSize(1);
  }

  @Test
  void anIdleLockIsTwoEmptyLists() {
    LockState state = new LockState("x", 7);
    assertThat(Row.of(state)).isEqualTo(new Row("x", "", 7, "[]", false, "[]"));
    assertThat(Row.of(new LockState("x", Kind.LOCK, 7)))
        .isEqualTo(new Row("x", "lock", 7, "[]", false, "[]"));
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
