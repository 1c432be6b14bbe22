package io.pawl.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.sql.lock.Upkeep;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class NewcomerTest {

  private final Newcomer node = new Newcomer(Duration.ofSeconds(30));

  private long since(long largest) {
    return node.incarnation("node", () -> new Upkeep.Highest(0, largest)).since();
  }

  @Test
  void p6_someoneGetsIn_aGrantDuringALookDoesNotBeginTheWaitAnew() {
    long since = since(7);

    long after =
        node.incarnation(
                "node",
                () -> {
                  Upkeep.Highest read = new Upkeep.Highest(0, 7);
                  node.saw(8);
                  return read;
                })
            .since();

    assertThat(after).isEqualTo(since);
    assertThat(since(8)).isEqualTo(since);
  }

  @Test
  void p1_oneHolder_theLossOfATokenThatWasSeenBeforeBeginsTheWaitAnew() {
    long since = since(7);
    node.saw(8);

    assertThat(since(0)).isNotEqualTo(since);
  }
}
