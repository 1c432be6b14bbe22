package io.pawl.concurrent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TimetableTest {

  private static final class Train extends Timetable.Entry {
    private long due;
  }

  private final Timetable<Train> timetable = new Timetable<>();

  /** As a list does that is sorted anew for each step. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4})
  void entriesComeInTheOrderOfTheirTimesWhateverIsAddedAndTakenOut(long seed) {
    Random random = new Random(seed);
    long origin = seed % 2 == 0 ? Long.MAX_VALUE - 500 : random.nextLong(); // times may overflow
    List<Train> expected = new ArrayList<>();
    for (int step = 0; step < 20_000; step++) {
      boolean grows = step / 4_000 % 2 == 0;
      if (expected.isEmpty() || random.nextInt(10) < (grows ? 7 : 3)) {
        Train train = new Train();
        train.due = origin + random.nextInt(1_000);
        expected.add(train);
        timetable.add(train, train.due);
      } else if (random.nextBoolean()) {
        assertThat(timetable.remove(expected.remove(random.nextInt(expected.size())))).isTrue();
      } else {
        Train first = timetable.removeFirst();
        assertThat(expected.remove(first)).isTrue();
        assertThat(expected).allMatch(train -> first.due - train.due <= 0);
      }
      if (!expected.isEmpty()) {
        Comparator<Train> byDue = (a, b) -> Long.compare(a.due - b.due, 0);
        assertThat(timetable.firstDue()).isEqualTo(expected.stream().min(byDue).orElseThrow().due);
      }
      assertThat(timetable.isEmpty()).isEqualTo(expected.isEmpty());
    }
  }

  @Test
  void whatWasTakenOutCanBeAddedAgain() {
    Train train = new Train();
    assertThat(timetable.remove(train)).isFalse();
    timetable.add(train, 5);
    assertThatThrownBy(() -> timetable.add(train, 6)).isInstanceOf(IllegalArgumentException.class);
    assertThat(timetable.remove(train)).isTrue();
    timetable.add(train, 7);
    timetable.clear();
    assertThat(timetable.isEmpty()).isTrue();
    timetable.add(train, 8);
    assertThat(timetable.firstDue()).isEqualTo(8);
  }

  @Test
  void anEmptyOneHasNoFirst() {
    assertThatThrownBy(timetable::firstDue).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(timetable::removeFirst).isInstanceOf(IllegalStateException.class);
  }
}
