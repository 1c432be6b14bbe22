package io.pawl.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.error.StoreUnavailableException;
import io.pawl.servers.RedisServer;
import io.pawl.spi.CounterAnswer;
import io.pawl.spi.CounterRequest;
import io.pawl.spi.CounterView;
import io.pawl.spi.LedgerEntry;
import io.pawl.spi.LedgerEntry.Status;
import io.pawl.spi.Operation;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Ids are kept for the stated time, here 10 minutes of a clock that the test moves. */
class CounterMemoryTest {

  private static final String NAME = "memory";
  private static final Duration KEPT = Duration.ofMinutes(10);

  private final RedisServer server = RedisServer.start();
  private final RedisStore store = TestClock.store(server.url() + "?keepIds=10m");
  private long millis = System.currentTimeMillis();

  @BeforeEach
  void stock() {
    move(Duration.ZERO);
    apply("stock", new Operation.SetTo(1_000));
  }

  @AfterEach
  void close() {
    store.close();
    server.close();
  }

  private void move(Duration by) {
    millis += by.toMillis();
    TestClock.set(server, 1000 * millis);
  }

  private CounterAnswer apply(String id, Operation operation) {
    return apply(id, millis, operation);
  }

  private CounterAnswer apply(String id, long issuedMillis, Operation operation) {
    return Seam.answer(store.apply(CounterRequest.of(NAME, id, issuedMillis, operation, true)));
  }

  private CounterAnswer take(String id) {
    return apply(id, new Operation.Add(-1));
  }

  private List<String> remembered() {
    return Seam.answer(store.history(NAME, Integer.MAX_VALUE)).stream()
        .map(LedgerEntry::id)
        .toList();
  }

  private void assertConserved(long value) {
    CounterView view = Seam.answer(store.read(NAME)).orElseThrow();
    long changes =
        Seam.answer(store.history(NAME, Integer.MAX_VALUE)).stream()
            .mapToLong(LedgerEntry::change)
            .sum();
    assertThat(view.value()).isEqualTo(value);
    assertThat(view.forgotten() + changes).isEqualTo(value);
  }

  @Test
  void anIdIsKnownForTheStatedTime() {
    long issued = millis;
    CounterAnswer first = apply("order", issued, new Operation.Add(-1));
    move(KEPT);
    take("other");
    assertThat(apply("order", issued, new Operation.Add(-1))).isEqualTo(first);
    assertConserved(998);
  }

  @Test
  void oldIdsAreForgottenInStepsAndThenRefusedNotAppliedAgain() {
    Instant then = Instant.ofEpochMilli(millis);
    for (int i = 0; i < 100; i++) {
      take("old" + i);
    }
    move(KEPT.plusMillis(1));
    assertThat(remembered()).hasSize(101);

    take("new0");

    assertThat(remembered()).hasSize(101 + 1 - 20).doesNotContain("stock", "old18");
    assertThat(remembered()).contains("old19");
    assertConserved(899);
    for (String id : List.of("old18", "never seen")) {
      assertThat(apply(id, then.toEpochMilli(), new Operation.Add(-1)))
          .isInstanceOf(CounterAnswer.TooOld.class);
    }
    for (int i = 1; i < 10; i++) {
      take("new" + i);
    }
    assertThat(remembered()).hasSize(10).allMatch(id -> id.startsWith("new"));
    assertThat(server.call("HLEN", Keys.ofCounter(NAME))).isEqualTo(1L + 2 * 10);
    assertConserved(890);
  }

  @Test
  void whatAQuestionClosedIsRefusedOnceItIsForgotten() {
    Instant then = Instant.ofEpochMilli(millis);
    apply("order", 0, Operation.CLOSE);
    apply("cart", 0, Operation.CANCEL);
    move(KEPT.plusMillis(1));
    take("a");
    take("b");

    assertThat(remembered()).containsExactlyInAnyOrder("a", "b");
    for (String id : List.of("order", "cart")) {
      assertThat(apply(id, then.toEpochMilli(), new Operation.Add(-1)))
          .isInstanceOf(CounterAnswer.TooOld.class);
    }
    assertConserved(998);
  }

  @Test
  void openReservationsAndIdsFromTheFutureAreKept() {
    Instant future = Instant.ofEpochMilli(millis).plus(KEPT);
    apply("open", new Operation.Reserve(5, KEPT.toMillis() * 10));
    apply("future", future.toEpochMilli(), new Operation.Add(-1));
    move(KEPT.plusMillis(1));

    take("a");
    take("b");

    assertThat(remembered()).containsExactlyInAnyOrder("a", "b", "future", "open");
    assertThat(apply("open", Operation.CONFIRM)).isInstanceOf(CounterAnswer.Applied.class);
    move(KEPT.plusMillis(1));
    take("c");
    take("d");
    assertThat(remembered()).containsExactlyInAnyOrder("c", "d");
    assertConserved(990);
  }

  @Test
  void aCounterThatNobodyUsesStays() {
    take("order");
    move(Duration.ofDays(400));
    assertThat(server.call("PTTL", Keys.ofCounter(NAME))).isEqualTo(-1L);
    assertThat(Seam.answer(store.read(NAME)).orElseThrow().value()).isEqualTo(999);
  }

  /** The reservation stays at the beginning of the ledger, however much is forgotten behind it. */
  @Test
  void aHistoryPassesOverWhatWasPrunedFiveHundredLinesAtATime() {
    apply("open", new Operation.Reserve(5, KEPT.toMillis() * 10));
    for (int i = 0; i < 900; i++) {
      take("old" + i);
    }
    move(Duration.ofMillis(1));
    assertThat(Seam.answer(store.prune(NAME, Instant.ofEpochMilli(millis)))).isEqualTo(901);
    Commands before = Commands.of(server);

    assertThat(Seam.answer(store.history(NAME, 2)))
        .extracting(LedgerEntry::id)
        .containsExactly("open");

    assertThat(Commands.of(server).since(before).get("evalsha")).isLessThanOrEqualTo(3);
  }

  /** What is due has returned in the answer, and returns in the key with the next change. */
  @Test
  void aCounterIsReadThoughTheServerIsShortOfMemory() {
    apply("order", new Operation.Reserve(400, 1_000));
    move(Duration.ofSeconds(1));
    server.call("CONFIG", "SET", "maxmemory", "1");

    CounterView view = Seam.answer(store.read(NAME)).orElseThrow();
    List<LedgerEntry> history = Seam.answer(store.history(NAME, 1));

    assertThat(view.value()).isEqualTo(1_000);
    assertThat(view.reserved()).isZero();
    assertThat(history).extracting(LedgerEntry::status).containsExactly(Status.EXPIRED);
    assertThatThrownBy(() -> take("more"))
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining("maxmemory");
    server.call("CONFIG", "SET", "maxmemory", "0");
    assertThat(take("more")).isInstanceOf(CounterAnswer.Applied.class);
    assertConserved(999);
  }

  /** More are due than one script returns: the question is asked again until it can be answered. */
  @Test
  void whatIsDueHasReturnedBeforeAnythingIsDecided() {
    for (int i = 0; i < 600; i++) {
      apply("r" + i, new Operation.Reserve(1, 1_000 + i % 7));
    }
    apply("late", new Operation.Reserve(400, 5_000));
    assertThat(take("none left")).isInstanceOf(CounterAnswer.Refused.class);
    move(Duration.ofMillis(1_007));

    assertThat(apply("r599", Operation.CONFIRM)).isInstanceOf(CounterAnswer.Refused.class);
    assertThat(apply("all", new Operation.Add(-600))).isInstanceOf(CounterAnswer.Applied.class);

    CounterAnswer.Applied late = (CounterAnswer.Applied) apply("late", Operation.CLOSE);
    assertThat(late.entries().get(NAME).status()).isEqualTo(Status.RESERVED);
    assertConserved(0);
  }
}
