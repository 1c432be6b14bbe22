package io.pawl.spring.boot;

import org.jspecify.annotations.Nullable;

/** The application has nothing to keep locks in, or too much. */
final class NoStoreException extends RuntimeException {

  private static final long serialVersionUID = 1;

  private final String action;

  /**
   * @param action what to do about it
   */
  NoStoreException(String message, String action) {
    this(message, action, null);
  }

  NoStoreException(String message, String action, @Nullable Throwable cause) {
    super(message, cause);
    this.action = action;
  }

  String action() {
    return action;
  }
}
