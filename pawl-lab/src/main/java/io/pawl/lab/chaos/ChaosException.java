package io.pawl.lab.chaos;

/** A run could not be made, or a worker failed in a way that is no business of a checker. */
final class ChaosException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  ChaosException(String message) {
    super(message);
  }

  ChaosException(String message, Throwable cause) {
    super(message, cause);
  }
}
