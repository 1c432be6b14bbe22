package io.pawl.sql.lock;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** How soon a waiter's client looks again at a lock. */
class QueuePlaceTest {

  private static final long MILLI = TimeUnit.MILLISECONDS.toNanos(1);

  private final QueuePlace place = new QueuePlace();

  /** In milliseconds, after a look so long after the queue last moved. */
  private long pauseAfter(long waitedMillis) {
    long lookedAt = waitedMillis * MILLI;
    return (place.nextLook(lookedAt, MILLI, MILLI) - lookedAt) / MILLI;
  }

  @Test
  void whoeverIsNextLooksAfterATenthOfTheWaitFromOneToFiveHundredMilliseconds() {
    place.entered(0, 0);
    assertThat(pauseAfter(0)).isEqualTo(1);
    assertThat(pauseAfter(10)).isEqualTo(1);
    assertThat(pauseAfter(1_000)).isEqualTo(100);
    assertThat(pauseAfter(3_600_000)).isEqualTo(500);
  }

  @Test
  void whoeverHasOthersBeforeItLooksLater() {
    place.entered(2, 0);
    assertThat(pauseAfter(0)).isEqualTo(3);
    place.standsBehind(100);
    assertThat(pauseAfter(0)).isEqualTo(5);
    assertThat(pauseAfter(3_600_000)).isEqualTo(1_000);
  }

  @Test
  void aQueueThatMovesIsLookedAtOftenAgain() {
    place.entered(1, 0);
    place.movedOn(60_000 * MILLI);
    assertThat(pauseAfter(60_000)).isEqualTo(1);
    assertThat(pauseAfter(60_100)).isEqualTo(10);
  }

  @Test
  void ofMoreLocksThanAQueryNamesThoseComeFirstThatAreLongestOverdue() {
    long now = 1_000 * MILLI;
    Map<String, Long> next = new HashMap<>();
    for (int i = 0; i < 2 * Combiner.MAX_BATCH; i++) {
      next.put("lock" + i, now - i * MILLI);
    }
    next.put("later", now + 2 * MILLI);

    assertThat(RowPoll.due(next, now))
        .hasSize(Combiner.MAX_BATCH)
        .startsWith("lock" + (2 * Combiner.MAX_BATCH - 1))
        .doesNotContain("lock0", "later");
    assertThat(RowPoll.due(Map.of("later", now + 1), now)).isEmpty();
  }
}
