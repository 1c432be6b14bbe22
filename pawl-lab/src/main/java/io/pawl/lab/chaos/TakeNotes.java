package io.pawl.lab.chaos;

import io.pawl.checker.Span;
import io.pawl.checker.Take;
import io.pawl.checker.Take.Outcome;
import io.pawl.counter.Change;
import io.pawl.counter.OperationId;
import io.pawl.lab.chaos.Stocks.Counted;
import java.nio.file.Path;
import java.util.stream.IntStream;

/** What one worker JVM was told of each of its takes, as {@link Notebook} is of leases. */
final class TakeNotes {

  private static final int MOST = 500_000;
  private static final int WORDS = 8;

  private final Words words;
  private final int jvm;

  private TakeNotes(Words words, int jvm) {
    this.words = words;
    this.jvm = jvm;
  }

  static TakeNotes of(Path folder, int jvm) {
    return new TakeNotes(Words.in(folder.resolve("takes-" + jvm), (MOST + 1L) * WORDS), jvm);
  }

  /** The numbers of those that were made; not of one whose worker was killed as it began. */
  IntStream takes() {
    int begun = (int) Math.min(words.get(0), MOST);
    return IntStream.range(0, begun).filter(number -> words.get(word(number, 2)) != 0);
  }

  /** Begins a take; returns its number. */
  int ask(int counter, long amount) {
    int number = (int) words.add(0, 1);
    if (number >= MOST) {
      throw new IllegalStateException("the notes of JVM " + jvm + " are full");
    }
    words.set(word(number, 0), counter);
    words.set(word(number, 1), amount);
    words.set(word(number, 5), Outcome.UNKNOWN.ordinal());
    words.set(word(number, 2), System.nanoTime()); // last: see takes()
    return number;
  }

  OperationId id(int number) {
    return OperationId.of("chaos-" + jvm + "-" + number);
  }

  private static int word(int number, int word) {
    return (number + 1) * WORDS + word;
  }

  void told(int number, Change change) {
    words.set(word(number, 4), change.value());
    words.set(word(number, 6), 1);
    end(number, change.isApplied() ? Outcome.APPLIED : Outcome.REFUSED);
  }

  /** Notes what is known without a value. */
  void end(int number, Outcome outcome) {
    words.set(word(number, 3), System.nanoTime());
    set(number, outcome);
  }

  /** Notes what is known better by now, as if it had been when it was told. */
  void set(int number, Outcome outcome) {
    words.set(word(number, 5), outcome.ordinal());
  }

  Take take(int number) {
    long ended = words.get(word(number, 3));
    return new Take(
        Counted.values()[(int) words.get(word(number, 0))].counter(),
        id(number).text(),
        words.get(word(number, 1)),
        Outcome.values()[(int) words.get(word(number, 5))],
        words.get(word(number, 4)),
        words.get(word(number, 6)) == 1,
        new Span(words.get(word(number, 2)), ended == 0 ? Span.OPEN : ended));
  }
}
