package io.pawl.lab.chaos;

import io.pawl.checker.Share;
import java.nio.file.Path;
import java.time.Duration;

/**
 * What one worker JVM saw of each of its leases. Each has a page, of which the worker writes one
 * line after another; whoever kills the worker finds them. Thread-safe, a page being one holder's.
 */
final class Notebook {

  private static final int MOST_PAGES = 1_000_000;
  private static final int WORDS = 24;
  private static final int MOST_MET = 4;

  private final Words words;
  private final int jvm;

  private Notebook(Words words, int jvm) {
    this.words = words;
    this.jvm = jvm;
  }

  static Notebook of(Path folder, int jvm) {
    Words words = Words.in(folder.resolve("notebook-" + jvm), (MOST_PAGES + 1L) * WORDS);
    return new Notebook(words, jvm);
  }

  int jvm() {
    return jvm;
  }

  int pages() {
    return (int) Math.min(words.get(0), MOST_PAGES);
  }

  Page page(int number) {
    return new Page(number);
  }

  /** Returns how many leases and waits have not ended. */
  int open() {
    int open = 0;
    for (int number = 0; number < pages(); number++) {
      open += page(number).get(Line.ASKED) != 0 && page(number).get(Line.ENDED) == 0 ? 1 : 0;
    }
    return open;
  }

  /** Returns how many leases and waits without a bound the store has failed since. */
  int failedSince(long nanos) {
    int failed = 0;
    for (int number = 0; number < pages(); number++) {
      Page page = page(number);
      boolean isWait =
          page.end() == End.NOT_GRANTED
              && page.get(Line.BOUND) == 0
              && page.get(Line.SHAPE) != Shape.INTERRUPTED.ordinal()
              && page.get(Line.SHAPE) != Shape.JOB.ordinal()
              && page.get(Line.SHAPE) != Shape.ELECTION.ordinal();
      boolean hasFailed = isWait || page.end() == End.UNCONFIRMED;
      failed += hasFailed && page.get(Line.ENDED) - nanos > 0 ? 1 : 0;
    }
    return failed;
  }

  /** Begins a page: somebody asks for a lock. */
  Page ask(Subject subject, Share share, Shape shape) {
    long number = words.add(0, 1);
    if (number >= MOST_PAGES) {
      throw new IllegalStateException("the notebook of JVM " + jvm + " is full");
    }
    Page page = new Page((int) number);
    page.set(Line.SUBJECT, subject.ordinal());
    page.set(Line.UNITS, share.units());
    page.set(Line.SHAPE, shape.ordinal());
    page.set(Line.ASKED, System.nanoTime());
    return page;
  }

  /** How a lease, or the wait for it, ended; 0 while it has not. */
  enum End {
    OPEN,
    /** The wait ended without a lease: busy, interrupted, cancelled, or the store failed. */
    NOT_GRANTED,
    RELEASED,
    /** Given back, though the store did not confirm it. */
    UNCONFIRMED,
    LOST
  }

  /** A line of a page. Times are of {@link System#nanoTime}; 0 is not yet. */
  enum Line {
    SUBJECT,
    UNITS,
    SHAPE,
    TOKEN,
    ASKED,
    GRANTED,
    VALID_FROM,
    VALID_UNTIL,
    END,
    CLOSE_BEGAN,
    ENDED,
    TOLD,
    TOLD_AT,
    FOUND_AT,
    /** 0 for none, 1 refused, 2 accepted. */
    FENCED,
    FENCED_NUMBER,
    /** Whether the lease was still valid after the fenced write. */
    FENCED_VALID,
    /** 0 for none, 1 in order, 2 over the write of a later holder. */
    UNFENCED,
    /** How long the wait may last, in milliseconds; 0 where it has no bound. */
    BOUND,
    /** Whether the callback of the loss saw its body end: 0 did not look, 1 yes, 2 not in time. */
    JOINED,
    MET
  }

  /** The lines of one lease. */
  final class Page {
    private final int number;

    private Page(int number) {
      this.number = number;
    }

    private int word(Line line) {
      return (number + 1) * WORDS + line.ordinal();
    }

    long get(Line line) {
      return words.get(word(line));
    }

    void set(Line line, long value) {
      words.set(word(line), value);
    }

    /** The page's signature, which no other page of any worker has. */
    long signature() {
      return ((long) jvm << 32) + number + 1;
    }

    int jvm() {
      return jvm;
    }

    Subject subject() {
      return Subject.values()[(int) get(Line.SUBJECT)];
    }

    Share share() {
      int units = (int) get(Line.UNITS);
      return subject().kind == Subject.Kind.PERMITS
          ? subject().permits(units)
          : units == 1 ? Share.SHARED : Share.EXCLUSIVE;
    }

    End end() {
      return End.values()[(int) get(Line.END)];
    }

    /** The wait may last for so long. */
    Page within(Duration bound) {
      set(Line.BOUND, bound.toMillis());
      return this;
    }

    void granted(long token) {
      set(Line.TOKEN, token);
      set(Line.GRANTED, System.nanoTime());
    }

    void told() {
      set(Line.TOLD_AT, System.nanoTime());
      words.add(word(Line.TOLD), 1);
    }

    void ended(End end) {
      set(Line.ENDED, System.nanoTime());
      set(Line.END, end.ordinal());
    }

    /** The referee has seen the one of this signature inside. */
    void met(long signature) {
      for (int i = 0; i < MOST_MET; i++) {
        if (words.replace(word(Line.MET) + i, 0, signature)) {
          return;
        }
      }
    }

    /** Of the one that was met as number {@code i}, 0 where there were fewer. */
    long met(int i) {
      return i < MOST_MET ? words.get(word(Line.MET) + i) : 0;
    }
  }
}
