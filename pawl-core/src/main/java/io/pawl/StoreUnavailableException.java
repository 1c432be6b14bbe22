package io.pawl;

import org.jspecify.annotations.Nullable;

/**
 * The store could not be reached or gave no answer in time. The same request may be tried again.
 */
public final class StoreUnavailableException extends StoreException {

  private static final long serialVersionUID = 1;

  public StoreUnavailableException(String message) {
    super(message);
  }

  public StoreUnavailableException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
