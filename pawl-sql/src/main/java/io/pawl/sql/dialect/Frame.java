package io.pawl.sql.dialect;

/**
 * What the transactions of one connection begin and end with, in one text with their statements.
 *
 * @param begin before the first statement; empty where JDBC begins them, or {@link Dialect#begin}
 * @param behind what follows the COMMIT or ROLLBACK
 * @param aroundOneToo whether both also stand around an update that is all of its transaction
 */
public record Frame(String begin, String behind, boolean aroundOneToo) {

  static final Frame NONE = new Frame("", "", false);

  /** {@code update} as a transaction of its own, in one trip. */
  public String around(String update) {
    return aroundOneToo ? begin + update + "; " + end("COMMIT") : update;
  }

  /** What ends a transaction with {@code end}, COMMIT or ROLLBACK. */
  public String end(String end) {
    return end + behind;
  }
}
