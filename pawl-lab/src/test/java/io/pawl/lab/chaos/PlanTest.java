package io.pawl.lab.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.lab.chaos.Fault.Kind;
import io.pawl.lab.chaos.Fault.Scene;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class PlanTest {

  private static final long CALM = 7_000;

  private static List<Fault> faults(long seed, int servers) {
    return faults(seed, servers, false);
  }

  private static List<Fault> faults(long seed, int servers, boolean replicas) {
    Plan plan = new Plan(seed, new Scene(servers, replicas, Set.of()), 1_000, CALM);
    return Stream.generate(plan::next).limit(40).toList();
  }

  @Test
  void oneSeedIsOnePlan() {
    assertThat(faults(7, 1)).isEqualTo(faults(7, 1)).isNotEqualTo(faults(8, 1));
  }

  @Test
  void aWorkerStopsForLongerThanItsLeaseFirst() {
    Fault first = faults(7, 1).get(0);
    assertThat(first.kind()).isEqualTo(Kind.WORKER_STOPPED);
    assertThat(first.millis()).isEqualTo(4_000);
  }

  @Test
  void eachKindComesInEachRoundOnEachServer() {
    int servers = 2;
    int ofServers = 7 * servers;
    List<Fault> round = faults(7, servers).subList(1, 1 + 3 + ofServers);
    assertThat(round)
        .extracting(Fault::kind)
        .containsAll(Kind.possible(new Scene(servers, false, Set.of())));
    assertThat(round)
        .filteredOn(fault -> !fault.kind().isOfWorker())
        .extracting(Fault::part)
        .containsOnly(0, 1);
    assertThat(round).allMatch(fault -> fault.millis() >= 50 && fault.millis() <= 3_000);
  }

  @Test
  void eachKindComesOnceFirstAndBeforeThemWhatFewStoresHave() {
    List<Kind> possible = Kind.possible(new Scene(3, true, Set.of()));
    List<Fault> first = faults(7, 3, true).subList(1, 1 + possible.size());
    assertThat(first).extracting(Fault::kind).containsExactlyInAnyOrderElementsOf(possible);
    assertThat(first.subList(0, 3)).allMatch(fault -> fault.kind().isOfReplicas());
  }

  @Test
  void aReplicaTakesOverOnlyWhereThereIsOne() {
    assertThat(faults(7, 3, false)).noneMatch(fault -> fault.kind().isOfReplicas());
    assertThat(faults(7, 1, true))
        .extracting(Fault::kind)
        .contains(Kind.TAKEOVER_BY_KILL, Kind.TAKEOVER_BY_STOP, Kind.REPLICA_STOPPED);
  }

  @Test
  void thereIsTooLittleOnlyOfWhatCanRunShort() {
    assertThat(Kind.possible(new Scene(1, false, Set.of(Kind.DISK_FULL))))
        .contains(Kind.DISK_FULL)
        .doesNotContain(Kind.MEMORY_FULL);
    assertThat(faults(7, 1)).noneMatch(fault -> fault.kind().isShortage());
  }

  @Test
  void bellsAreDroppedOnlyWhereTheProxyKnowsThem() {
    assertThat(Kind.possible(new Scene(1, false, Set.of(Kind.PUSHES_DROPPED))))
        .contains(Kind.PUSHES_DROPPED);
    assertThat(faults(7, 1)).noneMatch(fault -> fault.kind() == Kind.PUSHES_DROPPED);
  }

  @Test
  void waitsCanBeJudgedBetweenTwoRounds() {
    assertThat(faults(7, 1)).filteredOn(fault -> fault.gapMillis() == CALM).hasSize(3);
    assertThat(faults(7, 1).get(1 + 3 + 7).gapMillis()).isEqualTo(CALM);
  }

  @Test
  void aFileHasNoServerToKill() {
    assertThat(faults(7, 0)).allMatch(fault -> fault.kind().isOfWorker());
    assertThat(faults(7, 0)).anyMatch(fault -> fault.kind() == Kind.WRITES_FAIL);
    assertThat(faults(7, 1)).noneMatch(fault -> fault.kind() == Kind.WRITES_FAIL);
  }
}
