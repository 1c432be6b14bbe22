package io.pawl.bench.contest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.bench.BenchException;
import io.pawl.bench.Settings;
import io.pawl.bench.ShortRuns;
import io.pawl.bench.VirtualThreads;
import io.pawl.bench.report.Metric;
import io.pawl.bench.report.Section;
import io.pawl.bench.report.Side;
import io.pawl.bench.rival.JavaLocks;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The runner finds out who cheats. No test here looks at a speed. */
class ContestTest {

  @TempDir Path folder;

  private Section measure(String contest) {
    return measure(contest, "");
  }

  private Section measure(String contest, String sides) {
    return measure(contest, sides, false);
  }

  private Section measure(String contest, String sides, boolean virtualThreads) {
    List<String> jvm = ShortRuns.JVM_ARGUMENTS;
    Settings settings =
        new Settings(1, 0.2, 0.1, 0, contest, sides, jvm, folder, "", 0, 0, virtualThreads);
    return new BrokenSuite().measure(settings, said -> {}).get(0);
  }

  @Test
  void twoHoldersAtOnceAreSeen() {
    assertThatThrownBy(() -> measure("open"))
        .isInstanceOf(ExclusionViolation.class)
        .hasMessageContaining(BrokenSuite.OPEN)
        .hasMessageContaining("lock 0");
  }

  @Test
  void twoHoldersInDifferentProcessesAreSeen() {
    assertThatThrownBy(() -> measure("apart"))
        .isInstanceOf(ExclusionViolation.class)
        .hasMessageContaining("JVM");
  }

  @Test
  void aTokenThatDoesNotGrowIsSeen() {
    assertThatThrownBy(() -> measure("stuck"))
        .isInstanceOf(ExclusionViolation.class)
        .hasMessageContaining("token 7 came after 7");
  }

  @Test
  void aRivalThatThrowsFailsTheMeasurementWithItsMessage() {
    assertThatThrownBy(() -> measure("crash"))
        .isInstanceOf(BenchException.class)
        .hasMessageContaining("on purpose");
  }

  @Test
  void virtualThreadsContendWhereTheJvmHasThem() {
    if (VirtualThreads.exist()) {
      assertThat(measure("honest", "", true).sides()).hasSize(2);
      assertThatThrownBy(() -> measure("open", "", true)).isInstanceOf(ExclusionViolation.class);
    } else {
      assertThatThrownBy(() -> measure("honest", "", true))
          .isInstanceOf(BenchException.class)
          .hasMessageContaining("no virtual thread");
    }
  }

  @Test
  void eachHonestSideIsMeasuredAndNoFileStays() throws IOException {
    Section section = measure("honest");

    assertThat(section.sides())
        .extracting(Side::name)
        .containsExactly(JavaLocks.UNFAIR, JavaLocks.FAIR);
    assertThat(section.sides()).allSatisfy(side -> assertThat(side.forks()).hasSize(1));
    assertThat(section.metrics())
        .contains(Metric.CYCLES, Metric.P50, Metric.P99, Metric.MAX, Metric.THREAD_SPREAD)
        .doesNotContain(Metric.JVM_SPREAD, Metric.OPERATIONS);
    try (Stream<Path> left = Files.list(folder)) {
      assertThat(left).isEmpty();
    }
  }

  @Test
  void aSideThatIsLeftOutIsNotMeasured() {
    assertThat(measure("honest", JavaLocks.FAIR).sides())
        .extracting(Side::name)
        .containsExactly(JavaLocks.FAIR);
  }

  @Test
  void aHandOffCountsFromTheReleaseBeforeAndItsProcessIsKnown() {
    Board board = Board.at(folder.resolve("board"), 2);
    assertThat(board.nanosSinceLeft(1, 100)).isNegative();
    board.leaving(1, 0, 100);

    assertThat(board.nanosSinceLeft(1, 150)).isEqualTo(50);
    assertThat(board.wasLeftByOther(1, 0)).isFalse();
    assertThat(board.wasLeftByOther(1, 1)).isTrue();
    assertThat(board.nanosSinceLeft(0, 150)).isNegative();
  }

  @Test
  void aCounterThatLostAnIncrementIsAViolation() {
    Board board = Board.at(folder.resolve("board"), 1);
    board.enter(0, Board.signature(0, 0), 0);
    board.leave(0, Board.signature(0, 0));
    Histogram none = new Histogram(2);
    Tally two = new Tally(1, 1, 2, new long[] {2}, none, none, none, none);

    assertThatThrownBy(() -> ContestRunner.checkSum("x", List.of(two), board))
        .isInstanceOf(ExclusionViolation.class)
        .hasMessageContaining("of 2 increments under the lock 1 are left");
  }

  @Test
  void aReaderBesideAWriterIsSeenByWhoeverComesSecondAndByWhoeverLeavesFirst() {
    Board board = Board.at(folder.resolve("board"), 4);
    board.enter(0, 1, 0);
    assertThatThrownBy(() -> board.enterShared(0, 2, 9)).isInstanceOf(ExclusionViolation.class);
    assertThatThrownBy(() -> board.leave(0, 1)).isInstanceOf(ExclusionViolation.class);

    board.enterShared(1, 2, 9);
    assertThatThrownBy(() -> board.enter(1, 1, 0)).isInstanceOf(ExclusionViolation.class);
    assertThatThrownBy(() -> board.leaveShared(1, 2)).isInstanceOf(ExclusionViolation.class);

    board.enterShared(2, 1, 9);
    board.enterShared(2, 2, 9);
    board.leaveShared(2, 1);
    board.leaveShared(2, 2);
    board.enter(2, 1, 0);
    board.leave(2, 1);
    assertThat(board.entries()).isEqualTo(5);
  }

  @Test
  void onePermitTooManyIsSeen() {
    Board board = Board.at(folder.resolve("board"), 1);
    board.enterShared(0, 1, 2);
    board.enterShared(0, 2, 2);
    assertThatThrownBy(() -> board.enterShared(0, 3, 2))
        .isInstanceOf(ExclusionViolation.class)
        .hasMessageContaining("number 3 of 2");
  }
}
