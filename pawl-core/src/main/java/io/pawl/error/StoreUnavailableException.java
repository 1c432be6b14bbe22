package io.pawl.error;

import org.jspecify.annotations.Nullable;

/**
 * The store could not be reached or did not answer in time. The same request may be tried again.
 */
public final class StoreUnavailableException extends StoreException {

  private static final long serialVersionUID = 1;

  private final boolean unsent;

  public StoreUnavailableException(String message) {
    this(message, null);
  }

  public StoreUnavailableException(String message, @Nullable Throwable cause) {
    this(message, cause, false);
  }

  private StoreUnavailableException(String message, @Nullable Throwable cause, boolean unsent) {
    super(message, cause);
    this.unsent = unsent;
  }

  /**
   * Returns the exception for a request that certainly changed nothing, for instance because there
   * was no connection.
   */
  public static StoreUnavailableException unsent(String message, @Nullable Throwable cause) {
    return new StoreUnavailableException(message, cause, true);
  }

  /** Returns whether the request certainly changed nothing; if false, it may have been applied. */
  public boolean isUnsent() {
    return unsent;
  }
}
