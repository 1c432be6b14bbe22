package io.pawl.bench.soak;

import io.pawl.bench.soak.SoakLedger.Line;
import io.pawl.bench.soak.SoakNotes.Note;
import io.pawl.counter.Outcome;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Holds what clients were told against what the ledger has, line by line. */
final class SoakCheck {

  static final String ID_OF_STOCK = "stock";

  private static final int MOST_TOLD = 20;

  private final Map<Integer, SoakNotes> notes;
  private final boolean refusalsHaveLines;
  private final List<String> violations = new ArrayList<>();
  private long more;
  private long taken;

  private SoakCheck(Map<Integer, SoakNotes> notes, boolean refusalsHaveLines) {
    this.notes = notes;
    this.refusalsHaveLines = refusalsHaveLines;
  }

  /**
   * What does not agree, the first of it in words; empty where all does.
   *
   * @param notes of all JVMs by their numbers, with nothing left to find out
   * @param takes for which the stock was meant, see {@link SoakTake#stock}
   * @param refusalsHaveLines whether a take that was refused has a line; a gate refuses without
   */
  static List<String> violations(
      SoakLedger ledger, Map<Integer, SoakNotes> notes, long takes, boolean refusalsHaveLines) {
    SoakCheck check = new SoakCheck(notes, refusalsHaveLines);
    for (int counter = 0; counter < SoakTake.COUNTERS.size(); counter++) {
      check.counter(ledger, SoakTake.COUNTERS.get(counter), SoakTake.stock(counter, takes));
    }
    check.missing();
    if (check.more > 0) {
      check.violations.add("and " + check.more + " more");
    }
    return check.violations;
  }

  private void counter(SoakLedger ledger, String counter, long stock) {
    SoakLedger.Row row = ledger.row(counter);
    taken = 0;
    ledger.lines(counter, line -> line(counter, line));
    if (stock - row.value() != taken) {
      report(
          "%s: of %,d in stock %,d are left, but the ledger has takes of %,d",
          counter, stock, row.value(), taken);
    }
    if (row.value() < row.floor()) {
      report("%s: %,d is below the floor of %,d", counter, row.value(), row.floor());
    }
  }

  private void line(String counter, Line line) {
    if (line.id().equals(ID_OF_STOCK)) {
      return;
    }
    taken -= line.change();
    SoakTake take;
    try {
      take = SoakTake.parse(line.id());
    } catch (IllegalArgumentException e) {
      report("%s: the ledger has %s, which nobody asked for", counter, line);
      return;
    }
    SoakNotes told = notes.get(take.jvm());
    if (told == null || take.number() >= told.asked() || !take.counter().equals(counter)) {
      report("%s: the ledger has %s, which nobody asked for", counter, line);
      return;
    }
    if (told.see(take)) {
      report("%s: the ledger has a second %s", counter, line);
    }
    Note note = told.get(take);
    if (!isUnsound(note) && !line.equals(lineOf(take, note))) {
      report(
          "%s: take %s of %d was told as %s, but the ledger has it as %s, %+d",
          counter, take.text(), take.amount(), note, line.status(), line.change());
    }
  }

  /** What is a violation whatever the ledger has. */
  private static boolean isUnsound(Note note) {
    return note == Note.CONTRADICTED || note.isOpen();
  }

  /** The line that goes with a note; none where nothing was to be changed. */
  private static @Nullable Line lineOf(SoakTake take, Note note) {
    return switch (note) {
      case TAKEN, FOUND_APPLIED -> line(take, Outcome.Status.APPLIED, -take.amount());
      case REFUSED, FOUND_REFUSED -> line(take, Outcome.Status.REFUSED, 0);
      case FOUND_NEVER -> line(take, Outcome.Status.NEVER, 0);
      case UNTOLD, UNKNOWN, UNCHANGED, CONTRADICTED -> null;
    };
  }

  private static Line line(SoakTake take, Outcome.Status status, long change) {
    return new Line(take.text(), status.toString(), change);
  }

  /** What should have a line and has none, and what was wrong when it was told. */
  private void missing() {
    for (SoakNotes told : notes.values()) {
      for (int number = 0; number < told.asked(); number++) {
        SoakTake take = told.take(number);
        Note note = told.get(take);
        boolean seen = told.unsee(take);
        if (isUnsound(note)) {
          report("%s: take %s is %s in the end", take.counter(), take.text(), note);
        } else if (!seen && owesLine(note)) {
          report(
              "%s: take %s of %d was told as %s, but is not in the ledger",
              take.counter(), take.text(), take.amount(), note);
        }
      }
    }
  }

  private boolean owesLine(Note note) {
    return note == Note.REFUSED ? refusalsHaveLines : note != Note.UNCHANGED;
  }

  private void report(String format, Object... facts) {
    if (violations.size() < MOST_TOLD) {
      violations.add(String.format(Locale.ROOT, format, facts));
    } else {
      more++;
    }
  }
}
