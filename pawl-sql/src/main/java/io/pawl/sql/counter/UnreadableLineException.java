package io.pawl.sql.counter;

import io.pawl.error.StoreException;

/**
 * A row of a counter, or a line of its ledger, is not as this version of Pawl writes them: its
 * counter cannot be used.
 */
final class UnreadableLineException extends StoreException {

  private static final long serialVersionUID = 1;

  UnreadableLineException(String message, Throwable cause) {
    super(message, cause);
  }
}
