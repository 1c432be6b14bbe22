package io.pawl.lab.chaos;

import java.nio.file.Path;
import java.util.List;

/**
 * The witnesses that all workers share, in memory: who is inside of which lock, and two registers
 * for each, one that refuses smaller tokens than the largest it has seen, one that takes whatever
 * comes. Every step is one atomic operation, so that a worker may be killed or stopped anywhere.
 */
final class Referee {

  private static final int SEATS = 32;
  private static final int HEAD = SEATS;
  private static final int UNFENCED = SEATS + 1;
  private static final int TICKETS = SEATS + 2;
  private static final int SUBJECT_WORDS = SEATS + 16;
  private static final int CELL_WORDS = 2;
  private static final int MOST_CELLS = 4_000_000;
  private static final int NEXT_CELL = Subject.values().length * SUBJECT_WORDS;
  private static final int STALE = NEXT_CELL + 1;
  private static final int ENTRIES = NEXT_CELL + 2;
  private static final int CELLS = NEXT_CELL + 16;

  private final Words words;

  private Referee(Words words) {
    this.words = words;
  }

  static Referee in(Path folder) {
    return new Referee(Words.in(folder.resolve("referee"), CELLS + (long) MOST_CELLS * CELL_WORDS));
  }

  private static int word(Subject subject, int word) {
    return subject.ordinal() * SUBJECT_WORDS + word;
  }

  /** Notes that {@code page}'s holder is inside, and whom it met there. */
  void enter(Subject subject, Notebook.Page page) {
    int seat = 0;
    while (!words.replace(word(subject, seat), 0, page.signature())) {
      seat = (seat + 1) % SEATS;
    }
    words.add(ENTRIES, 1);
    for (int other = 0; other < SEATS; other++) {
      long met = words.get(word(subject, other));
      if (met != 0 && met != page.signature()) {
        page.met(met);
      }
    }
  }

  void leave(Subject subject, Notebook.Page page) {
    for (int seat = 0; seat < SEATS; seat++) {
      if (words.replace(word(subject, seat), page.signature(), 0)) {
        return;
      }
    }
  }

  /** Whether a holder of this JVM is inside of a lock that workers of all JVMs want. */
  boolean isInside(int jvm) {
    for (Subject subject : List.of(Subject.DEFAULT, Subject.STRICT, Subject.ASYNC)) {
      for (int seat = 0; seat < SEATS; seat++) {
        long inside = words.get(word(subject, seat));
        if (inside != 0 && inside >> 32 == jvm) {
          return true;
        }
      }
    }
    return false;
  }

  /** Returns how often somebody came in so far. */
  long entries() {
    return words.get(ENTRIES);
  }

  /** Strikes out whoever was inside when its JVM was killed. */
  void strikeOut(int jvm) {
    for (Subject subject : Subject.values()) {
      for (int seat = 0; seat < SEATS; seat++) {
        long inside = words.get(word(subject, seat));
        if (inside >> 32 == jvm && inside != 0) {
          words.replace(word(subject, seat), inside, 0);
        }
      }
    }
  }

  /** Returns a number larger than all before it; for a holder whose library has no tokens. */
  long ticket(Subject subject) {
    return 1 + words.add(word(subject, TICKETS), 1);
  }

  /**
   * What became of a write.
   *
   * @param number of the accepted write that decided
   */
  record Fenced(boolean isAccepted, long number) {}

  /**
   * Writes unless a larger token was seen. Each accepted write has a cell of its own, with its
   * token and number, and the head says which is the last.
   */
  Fenced write(Subject subject, long token) {
    long cell = words.add(NEXT_CELL, 1);
    if (cell >= MOST_CELLS) {
      throw new IllegalStateException("the registers are full");
    }
    int mine = CELLS + CELL_WORDS * (int) cell;
    while (true) {
      long head = words.get(word(subject, HEAD));
      long lastToken = head == 0 ? 0 : words.get((int) head);
      long lastNumber = head == 0 ? 0 : words.get((int) head + 1);
      if (lastToken > token) {
        return new Fenced(false, lastNumber);
      }
      words.set(mine, token);
      words.set(mine + 1, lastNumber + 1);
      if (words.replace(word(subject, HEAD), head, mine)) {
        return new Fenced(true, lastNumber + 1);
      }
    }
  }

  /** Writes whatever the token, and returns whether a later holder had written before. */
  boolean writeUnfenced(Subject subject, long token) {
    boolean isStale = words.swap(word(subject, UNFENCED), token) > token;
    if (isStale) {
      words.add(STALE, 1);
    }
    return isStale;
  }

  /** Returns how many stale writes the unfenced registers have seen. */
  long staleWrites() {
    return words.get(STALE);
  }
}
