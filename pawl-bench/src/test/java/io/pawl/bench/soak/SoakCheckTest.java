package io.pawl.bench.soak;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.bench.soak.SoakLedger.Line;
import io.pawl.bench.soak.SoakNotes.Note;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Each way in which a ledger can be wrong is seen, and nothing else is. */
class SoakCheckTest {

  private static final long TAKES = 1_000;

  @TempDir Path folder;

  private final Book book = new Book();
  private SoakNotes notes;

  /** A ledger as it would be stored, to be tampered with. */
  private static final class Book implements SoakLedger {

    final Map<String, List<Line>> lines = new HashMap<>();
    final Map<String, Long> values = new HashMap<>();
    long floor;

    List<Line> of(SoakTake take) {
      return lines.get(take.counter());
    }

    void enter(SoakTake take, String status, long change) {
      of(take).add(new Line(take.text(), status, change));
      values.merge(take.counter(), change, Long::sum);
    }

    @Override
    public Row row(String counter) {
      return new Row(values.get(counter), floor);
    }

    @Override
    public void lines(String counter, Consumer<Line> to) {
      lines.get(counter).forEach(to);
    }
  }

  /** Takes of every kind that are as they should be, on each counter. */
  @BeforeEach
  void keepTheBook() {
    for (int counter = 0; counter < SoakTake.COUNTERS.size(); counter++) {
      String name = SoakTake.COUNTERS.get(counter);
      long stock = SoakTake.stock(counter, TAKES);
      book.values.put(name, stock);
      Line filled = new Line(SoakCheck.ID_OF_STOCK, "applied", stock);
      book.lines.put(name, new ArrayList<>(List.of(filled)));
    }
    notes = SoakNotes.of(folder, 0, 1_000);
    for (int round = 0; round < 3; round++) {
      for (Note note : List.of(Note.TAKEN, Note.FOUND_APPLIED)) {
        make(note, "applied");
      }
      make(Note.REFUSED, "refused");
      make(Note.FOUND_REFUSED, "refused");
      make(Note.FOUND_NEVER, "never");
      notes.put(notes.next(), Note.UNCHANGED);
    }
    assertThat(violations()).isEmpty();
  }

  private SoakTake make(Note note, String status) {
    SoakTake take = notes.next();
    notes.put(take, note);
    book.enter(take, status, status.equals("applied") ? -take.amount() : 0);
    return take;
  }

  private List<String> violations() {
    return SoakCheck.violations(book, Map.of(0, notes), TAKES, true);
  }

  @Test
  void aTakeThatIsMissingIsSeenThoughTheValueAgrees() {
    SoakTake take = make(Note.TAKEN, "applied");
    book.of(take).removeIf(line -> line.id().equals(take.text()));
    book.values.merge(take.counter(), take.amount(), Long::sum);

    assertThat(violations()).hasSize(1);
    assertThat(violations().get(0)).contains("take " + take.text()).contains("TAKEN");
  }

  @Test
  void aTakeThatIsThereTwiceIsSeen() {
    SoakTake take = make(Note.TAKEN, "applied");
    book.enter(take, "applied", -take.amount());

    assertThat(violations()).hasSize(1);
    assertThat(violations().get(0)).contains("second").contains(take.text());
  }

  @Test
  void aTakeOfAnotherAmountIsSeen() {
    SoakTake take = notes.next();
    notes.put(take, Note.TAKEN);
    book.enter(take, "applied", -take.amount() - 1);

    assertThat(violations()).hasSize(1);
  }

  @ParameterizedTest
  @EnumSource(
      value = Note.class,
      names = {"REFUSED", "UNCHANGED", "FOUND_REFUSED", "FOUND_NEVER"})
  void whatWasNotTakenAndWasDeductedIsSeen(Note note) {
    SoakTake take = make(note, "applied");

    assertThat(violations()).hasSize(1);
    assertThat(violations().get(0)).contains("take " + take.text()).contains(note.toString());
  }

  @ParameterizedTest
  @EnumSource(
      value = Note.class,
      names = {"UNTOLD", "UNKNOWN", "CONTRADICTED"})
  void whatIsNotKnownOrCannotBeIsSeen(Note note) {
    make(note, "applied");

    assertThat(violations()).hasSize(1);
    assertThat(violations().get(0)).contains(note.toString());
  }

  @Test
  void aRefusalWithoutALineIsSeenUnlessItWasAGates() {
    notes.put(notes.next(), Note.REFUSED);

    assertThat(violations()).hasSize(1);
    assertThat(SoakCheck.violations(book, Map.of(0, notes), TAKES, false)).isEmpty();
  }

  @Test
  void aLineThatNobodyAskedForIsSeen() {
    book.enter(new SoakTake(0, notes.asked()), "applied", -1);
    book.enter(new SoakTake(1, 0), "applied", -1);
    book.lines.get(SoakTake.COUNTERS.get(0)).add(new Line("order-17", "refused", 0));
    book.lines.get(SoakTake.COUNTERS.get(0)).add(new Line("0-1", "refused", 0));

    assertThat(violations()).hasSize(4).allMatch(said -> said.contains("nobody asked for"));
  }

  @Test
  void aValueThatIsNotWhatTheLedgerLeavesIsSeen() {
    book.values.merge(SoakTake.COUNTERS.get(2), 1L, Long::sum);

    assertThat(violations()).hasSize(1);
    assertThat(violations().get(0)).startsWith(SoakTake.COUNTERS.get(2) + ":");
  }

  @Test
  void aValueBelowItsFloorIsSeen() {
    book.floor = 1_000_000;

    assertThat(violations()).hasSize(SoakTake.COUNTERS.size());
  }

  @Test
  void aThousandViolationsAreCountedAndTheFirstAreSaid() {
    for (int i = 0; i < 500; i++) {
      notes.put(notes.next(), Note.CONTRADICTED);
    }

    assertThat(violations()).hasSize(21).last().asString().isEqualTo("and 480 more");
  }
}
