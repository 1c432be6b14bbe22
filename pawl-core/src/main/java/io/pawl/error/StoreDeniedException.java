package io.pawl.error;

import org.jspecify.annotations.Nullable;

/** The store refused the credentials, or the account lacks a right. Trying again does not help. */
public final class StoreDeniedException extends StoreException {

  private static final long serialVersionUID = 1;

  public StoreDeniedException(String message) {
    super(message);
  }

  public StoreDeniedException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
