package io.pawl.engine;

/** Loses what is held on purpose. */
public final class Losses {

  private Losses() {}

  /** The loan alone hears of it. */
  public static void lose(Loan loan, String why) {
    loan.lose(why);
  }

  /** The hold ends, and whoever has it hears of it. */
  public static void loseHold(Loan loan, String why) {
    loan.claim().lose(why);
  }
}
