package io.pawl.sql;

import io.pawl.StoreConfigurationException;
import io.pawl.StoreDeniedException;
import io.pawl.StoreException;
import io.pawl.StoreUnavailableException;
import java.sql.SQLException;

/** A database as a store uses it: what it speaks, and the way there. */
record Database(Dialect dialect, Connections connections) {

  String describe() {
    return connections.describe();
  }

  Dialect.Failure classify(SQLException failure) {
    return dialect.classify(failure);
  }

  /** The exception that a user gets for {@code failure}. */
  StoreException explain(SQLException failure) {
    return explain(describe(), classify(failure), failure);
  }

  /**
   * As {@link #explain(SQLException)}.
   *
   * @param unsent whether the failed request has certainly changed nothing
   */
  StoreException explain(SQLException failure, boolean unsent) {
    StoreException explained = explain(failure);
    return unsent && explained instanceof StoreUnavailableException
        ? StoreUnavailableException.unsent(String.valueOf(explained.getMessage()), failure)
        : explained;
  }

  static StoreException explain(String where, Dialect.Failure kind, SQLException failure) {
    String what = where + ": " + failure.getMessage();
    return switch (kind) {
      case CONFLICT, BLOCKED, UNAVAILABLE -> new StoreUnavailableException(what, failure);
      case DENIED -> new StoreDeniedException(what, failure);
      case UNUSABLE -> new StoreConfigurationException(what, failure);
      case OTHER -> new StoreException(what, failure);
    };
  }

  /** {@code failure} with a message that says where. */
  RuntimeException located(RuntimeException failure) {
    String message = String.valueOf(failure.getMessage());
    if (message.startsWith(describe())) {
      return failure;
    }
    String what = describe() + ": " + message;
    if (failure instanceof StoreConfigurationException) {
      return new StoreConfigurationException(what, failure);
    }
    return failure instanceof StoreDeniedException
        ? new StoreDeniedException(what, failure)
        : failure;
  }
}
