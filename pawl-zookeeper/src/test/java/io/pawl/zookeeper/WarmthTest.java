package io.pawl.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.zookeeper.Admission.Warmth;
import org.junit.jupiter.api.Test;

/** From when on the leader keeps a session, as far as answers say. */
class WarmthTest {

  private static final long TICK = 800;

  private final Warmth warmth = new Warmth(TICK, 0);

  /** Answered at once. */
  private void touch(long at) {
    warmth.touched(at, at);
  }

  @Test
  void aSessionIsKeptFromItsBeginning() {
    assertThat(warmth.isEnough(1400)).isTrue();
    assertThat(warmth.isEnough(1401)).isFalse();
  }

  @Test
  void anAnswerCountsOnceTheLeaderMustHaveAskedWhomItsFollowerHasHeardOf() {
    touch(2000);
    touch(2499);
    assertThat(warmth.isEnough(2499)).isFalse();

    touch(2500);
    assertThat(warmth.isEnough(2500)).isTrue();
    assertThat(warmth.isEnough(3400)).isTrue();
    assertThat(warmth.isEnough(3401)).isFalse();
  }

  /** They were sent while the leader said nothing. */
  @Test
  void answersThatAllComeLateProveNothingOfEachOther() {
    for (long sentAt = 2000; sentAt < 10_000; sentAt += 300) {
      warmth.touched(sentAt, 10_000);
    }
    assertThat(warmth.isEnough(10_000)).isFalse();

    touch(10_300);
    touch(10_600);
    touch(10_900);
    assertThat(warmth.isEnough(10_900)).isTrue();
  }

  @Test
  void whatAnotherServerHasHeardProvesNothingOfThisOne() {
    touch(2000);
    warmth.connected(2100);
    touch(2500);
    assertThat(warmth.isEnough(2500)).isFalse();

    touch(3000);
    assertThat(warmth.isEnough(3000)).isTrue();
  }
}
