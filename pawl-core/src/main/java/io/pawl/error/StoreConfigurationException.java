package io.pawl.error;

import org.jspecify.annotations.Nullable;

/** Pawl cannot use the store as it is configured. Trying again does not help. */
public final class StoreConfigurationException extends StoreException {

  private static final long serialVersionUID = 1;

  public StoreConfigurationException(String message) {
    super(message);
  }

  public StoreConfigurationException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
