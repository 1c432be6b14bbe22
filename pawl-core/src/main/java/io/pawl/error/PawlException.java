package io.pawl.error;

import org.jspecify.annotations.Nullable;

/** The superclass of all exceptions that Pawl throws, apart from the JDK's own. */
public abstract class PawlException extends RuntimeException {

  private static final long serialVersionUID = 1;

  protected PawlException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
