package io.pawl.lab.chaos;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class ScheduleTest {

  private static List<Fault> faults(int many) {
    return Stream.generate(new Plan(7, new Fault.Scene(2, false, Set.of()), 1_000, 7_000)::next)
        .limit(many)
        .toList();
  }

  @Test
  void whatWasPlayedCanBePlayedAgain() {
    assertThat(Schedule.parse(Schedule.text(faults(40)))).isEqualTo(faults(40));
  }

  @Test
  void whatIsNoFaultIsRefused() {
    assertThatThrownBy(() -> Schedule.parse("300 CABLE_BITTEN 0 50 1"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("CABLE_BITTEN");
    assertThatThrownBy(() -> Schedule.parse("300 CABLE_CUT"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("REPLIES");
  }

  @Test
  void theFaultsThatMatterAreLeft() {
    List<Fault> all = faults(40);
    for (int seed = 0; seed < 50; seed++) {
      Random random = new Random(seed);
      List<Fault> matter = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        matter.add(all.get(random.nextInt(all.size())));
      }
      List<Fault> least = Schedule.shrink(all, 1_000, some -> some.containsAll(matter));
      assertThat(least).as("seed %d", seed).hasSameElementsAs(matter).doesNotHaveDuplicates();
    }
  }

  @Test
  void shrinkingIsGivenUp() {
    int[] runs = {0};
    List<Fault> least =
        Schedule.shrink(
            faults(40),
            5,
            some -> {
              runs[0]++;
              return false;
            });
    assertThat(least).hasSize(40);
    assertThat(runs[0]).isEqualTo(5);
  }
}
