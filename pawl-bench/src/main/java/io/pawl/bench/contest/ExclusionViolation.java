package io.pawl.bench.contest;

/** Two had one lock at once, or a token did not grow: nothing that was measured counts. */
public final class ExclusionViolation extends RuntimeException {

  private static final long serialVersionUID = 1;

  public ExclusionViolation(String what) {
    super(what);
  }
}
