package io.pawl;

import org.jspecify.annotations.Nullable;

/** The root of what Pawl throws beside the JDK's own exceptions. */
public abstract sealed class PawlException extends RuntimeException
    permits StoreException,
        LeaseLostException,
        OutcomeUnknownException,
        OperationConflictException,
        OperationTooOldException,
        RunTooLongException,
        StaleTokenException {

  private static final long serialVersionUID = 1;

  PawlException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
