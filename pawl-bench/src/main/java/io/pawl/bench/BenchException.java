package io.pawl.bench;

/** A measurement that could not be made. */
public final class BenchException extends RuntimeException {

  private static final long serialVersionUID = 1;

  public BenchException(String what) {
    super(what);
  }

  public BenchException(String what, Throwable cause) {
    super(what, cause);
  }
}
