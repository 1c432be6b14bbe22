package io.pawl.lab.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.checker.Take.Outcome;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is known of takes whose worker was killed. */
class TakeNotesTest {

  @TempDir Path folder;

  /** Nothing was sent, and of no amount: the counter would refuse to be asked for it. */
  @Test
  void aTakeWhoseWorkerWasKilledAsItBeganIsNone() {
    TakeNotes notes = TakeNotes.of(folder, 1);
    assertThat(Words.in(folder.resolve("takes-1"), 8).add(0, 1)).as("killed").isZero();
    int made = notes.ask(0, 2);

    assertThat(notes.takes()).containsExactly(made);
    assertThat(notes.take(made).outcome()).isEqualTo(Outcome.UNKNOWN);
    assertThat(notes.take(made).amount()).isEqualTo(2);
  }
}
