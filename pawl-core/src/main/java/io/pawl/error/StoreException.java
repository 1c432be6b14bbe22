package io.pawl.error;

import org.jspecify.annotations.Nullable;

/**
 * The store failed to answer, or answered with an error. Whether the lock is free is unknown;
 * "busy" is never reported this way. The subclasses say what to do.
 */
public class StoreException extends PawlException {

  private static final long serialVersionUID = 1;

  public StoreException(String message) {
    super(message, null);
  }

  public StoreException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
