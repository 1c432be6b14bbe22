package io.pawl.error;

import org.jspecify.annotations.Nullable;

/** The store is not one that Pawl can use as it is configured. Trying again is no use. */
public final class StoreConfigurationException extends StoreException {

  private static final long serialVersionUID = 1;

  public StoreConfigurationException(String message) {
    super(message);
  }

  public StoreConfigurationException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
