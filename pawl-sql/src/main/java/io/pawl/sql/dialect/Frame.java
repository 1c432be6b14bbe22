package io.pawl.sql.dialect;

/**
 * What the transactions of one connection begin with, in one text with their statements.
 *
 * @param begin before the first statement; empty where JDBC begins them, or {@link Dialect#begin}
 * @param beginAgain in its place, once a transaction has begun with that, until {@code rest}
 * @param rest takes back what {@code begin} has set for longer than its transaction, before the
 *     session lies idle; empty where it sets nothing
 * @param aroundOneToo whether a transaction is also begun and committed for an update that is all
 *     of it
 */
public record Frame(String begin, String beginAgain, String rest, boolean aroundOneToo) {

  static final Frame NONE = new Frame("", false);

  Frame(String begin, boolean aroundOneToo) {
    this(begin, begin, "", aroundOneToo);
  }

  /** {@code update} as a transaction of its own, in one trip. */
  public String around(String update) {
    return aroundOneToo ? begin + update + "; COMMIT" : update;
  }
}
