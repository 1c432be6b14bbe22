package io.pawl.lab.stage;

/** A schedule could not be played to its end: this says nothing of the algorithm. */
public final class LabException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  public LabException(String message) {
    super(message);
  }

  public LabException(String message, Throwable cause) {
    super(message, cause);
  }
}
