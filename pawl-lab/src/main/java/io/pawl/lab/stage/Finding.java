package io.pawl.lab.stage;

/**
 * What one run of a schedule showed.
 *
 * @param what happened, in a sentence with the run's own figures
 * @param seen by which reading of the server or of the witnesses it was seen
 */
public record Finding(Verdict verdict, String what, String seen) {

  /** Everything that was promised held. */
  public static Finding stands(String what, String seen) {
    return new Finding(Verdict.STANDS, what, seen);
  }

  /** Everything that was promised held, or else two held at once. */
  public static Finding standsUnlessShared(Trace trace, String what, String seen) {
    return trace.overlaps() == 0 ? stands(what, seen) : twoHolders(trace, what);
  }

  /** Two held at once, unless the witness saw none. */
  public static Finding twoHolders(Trace trace, String what) {
    Verdict verdict = trace.overlaps() > 0 ? Verdict.TWO_HOLDERS : Verdict.NOT_REPRODUCED;
    String stale = trace.staleWrites() == 0 ? "" : ", " + count(trace.staleWrites(), "stale write");
    return new Finding(verdict, what, count(trace.overlaps(), "overlap") + " of holds" + stale);
  }

  private static String count(int n, String what) {
    return n + " " + what + (n == 1 ? "" : "s");
  }
}
