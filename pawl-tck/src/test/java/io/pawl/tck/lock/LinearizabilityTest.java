package io.pawl.tck.lock;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.spi.Mode;
import io.pawl.tck.lock.Linearizability.Call;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The checker itself: what it must find, and what it must let pass. */
class LinearizabilityTest {

  private static final Mode TWO_OF_THREE = new Mode.Permits(2, 3);

  private static Call take(Mode mode, long token, long began, long ended) {
    return new Call(mode, true, token, began, ended);
  }

  private static Call give(Mode mode, long token, long began, long ended) {
    return new Call(mode, false, token, began, ended);
  }

  @Test
  void overlappingCallsMayHaveHappenedInAnyOrder() {
    assertThat(
            Linearizability.explains(
                List.of(
                    take(Mode.EXCLUSIVE, 2, 0, 9),
                    take(Mode.EXCLUSIVE, 1, 1, 3),
                    give(Mode.EXCLUSIVE, 1, 4, 6))))
        .isTrue();
    assertThat(
            Linearizability.explains(
                List.of(take(Mode.SHARED, 2, 0, 1), take(Mode.SHARED, 1, 2, 3))))
        .as("readers' tokens need not grow")
        .isTrue();
  }

  @Test
  void aWriterBesideAReaderIsFound() {
    assertThat(
            Linearizability.explains(
                List.of(
                    take(Mode.SHARED, 1, 0, 1),
                    take(Mode.EXCLUSIVE, 2, 2, 3),
                    give(Mode.SHARED, 1, 4, 5))))
        .isFalse();
  }

  @Test
  void tooManyPermitsAreFound() {
    assertThat(
            Linearizability.explains(
                List.of(take(TWO_OF_THREE, 1, 0, 1), take(TWO_OF_THREE, 2, 2, 3))))
        .isFalse();
  }

  @Test
  void aWritersTokenThatDoesNotGrowIsFound() {
    assertThat(
            Linearizability.explains(
                List.of(
                    take(Mode.SHARED, 5, 0, 1),
                    give(Mode.SHARED, 5, 2, 3),
                    take(Mode.EXCLUSIVE, 4, 4, 5))))
        .isFalse();
  }

  @Test
  void aReleaseOfWhatIsNotHeldIsFound() {
    assertThat(
            Linearizability.explains(
                List.of(give(Mode.EXCLUSIVE, 1, 0, 1), take(Mode.EXCLUSIVE, 1, 2, 3))))
        .isFalse();
  }
}
