package io.pawl.lab.stage;

/** What a schedule brought about. */
public enum Verdict {
  TWO_HOLDERS("two holders"),
  LOCKED_FOR_EVER("locked for ever"),
  STALLED("stalled"),
  OVERSOLD("oversold"),
  DEADLOCK("deadlock"),
  LEFT_BEHIND("left behind"),
  COSTLY("correct, but costly"),
  /** The reported defect did not show. */
  NOT_REPRODUCED("not reproduced"),
  /** The schedule came to no end: this says nothing of the algorithm. */
  NOT_PLAYED("not played"),
  /** Everything that was promised held. */
  STANDS("stands");

  private final String words;

  Verdict(String words) {
    this.words = words;
  }

  /** Returns it as people read it. */
  public String words() {
    return words;
  }
}
