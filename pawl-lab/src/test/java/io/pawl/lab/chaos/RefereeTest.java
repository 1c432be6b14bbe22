package io.pawl.lab.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.checker.Share;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The witnesses see what happens, from whichever process. */
class RefereeTest {

  @TempDir Path folder;

  private Referee referee;
  private Referee sameInAnotherProcess;
  private Notebook.Page first;
  private Notebook.Page second;

  @BeforeEach
  void open() {
    referee = Referee.in(folder);
    sameInAnotherProcess = Referee.in(folder);
    first = Notebook.of(folder, 0).ask(Subject.DEFAULT, Share.EXCLUSIVE, Shape.ACQUIRE);
    second = Notebook.of(folder, 1).ask(Subject.DEFAULT, Share.EXCLUSIVE, Shape.ACQUIRE);
  }

  @Test
  void whoeverComesInMeetsWhoIsInside() {
    referee.enter(Subject.DEFAULT, first);
    sameInAnotherProcess.enter(Subject.DEFAULT, second);

    assertThat(first.met(0)).isZero();
    assertThat(Notebook.of(folder, 1).page(0).met(0)).isEqualTo(first.signature());
    assertThat(second.met(1)).isZero();
  }

  @Test
  void whoeverWentOutOrWasKilledIsNotMet() {
    referee.enter(Subject.DEFAULT, first);
    referee.leave(Subject.DEFAULT, first);
    sameInAnotherProcess.enter(Subject.DEFAULT, second);
    assertThat(second.met(0)).isZero();

    sameInAnotherProcess.strikeOut(second.jvm());
    referee.enter(Subject.DEFAULT, first);
    assertThat(first.met(0)).isZero();
  }

  @Test
  void theFencedRegisterRefusesWhatIsSmallerThanTheLargest() {
    assertThat(referee.write(Subject.JOB, 5)).isEqualTo(new Referee.Fenced(true, 1));
    assertThat(sameInAnotherProcess.write(Subject.JOB, 7)).isEqualTo(new Referee.Fenced(true, 2));
    assertThat(referee.write(Subject.JOB, 5)).isEqualTo(new Referee.Fenced(false, 2));
    assertThat(referee.write(Subject.ASYNC, 5)).isEqualTo(new Referee.Fenced(true, 1));
  }

  @Test
  void theUnfencedRegisterTakesAStaleWriteAndSaysSo() {
    assertThat(referee.writeUnfenced(Subject.JOB, 7)).isFalse();
    assertThat(sameInAnotherProcess.writeUnfenced(Subject.JOB, 5)).isTrue();
    assertThat(referee.writeUnfenced(Subject.JOB, 6)).isFalse();
    assertThat(referee.staleWrites()).isEqualTo(1);
  }
}
