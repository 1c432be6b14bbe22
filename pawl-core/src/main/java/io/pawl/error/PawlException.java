package io.pawl.error;

import org.jspecify.annotations.Nullable;

/** The root of what Pawl throws beside the JDK's own exceptions. */
public abstract class PawlException extends RuntimeException {

  private static final long serialVersionUID = 1;

  protected PawlException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
