package io.pawl.sql.dialect;

import io.pawl.error.StoreConfigurationException;
import io.pawl.error.StoreDeniedException;
import io.pawl.error.StoreException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.sql.connection.Connections;
import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A database as a store uses it: what it speaks, and the way there.
 *
 * @param written whether something was ever written and committed
 */
public record Database(Dialect dialect, Connections connections, AtomicBoolean written) {

  Database(Dialect dialect, Connections connections) {
    this(dialect, connections, new AtomicBoolean());
  }

  public String describe() {
    return connections.describe();
  }

  public Dialect.Failure classify(SQLException failure) {
    return dialect.classify(failure);
  }

  /** The exception that a user gets for {@code failure}. */
  public StoreException explain(SQLException failure) {
    Dialect.Failure kind = classify(failure);
    if (kind == Dialect.Failure.READ_ONLY && written.get()) {
      return StoreUnavailableException.unsent(
          describe() + ": takes no writes for now: " + failure.getMessage(), failure);
    }
    return explain(describe(), kind, failure);
  }

  /**
   * As {@link #explain(SQLException)}.
   *
   * @param unsent whether the failed request has certainly changed nothing
   */
  public StoreException explain(SQLException failure, boolean unsent) {
    StoreException explained = explain(failure);
    return unsent && explained instanceof StoreUnavailableException
        ? StoreUnavailableException.unsent(String.valueOf(explained.getMessage()), failure)
        : explained;
  }

  static StoreException explain(String where, Dialect.Failure kind, SQLException failure) {
    String what = where + ": " + failure.getMessage();
    return switch (kind) {
      case CONFLICT, BLOCKED, INTERRUPTED, UNAVAILABLE ->
          new StoreUnavailableException(what, failure);
      case DENIED -> new StoreDeniedException(what, failure);
      case READ_ONLY, UNUSABLE -> new StoreConfigurationException(what, failure);
      case OTHER -> new StoreException(what, failure);
    };
  }

  /** {@code failure} with a message that says where. */
  public RuntimeException located(RuntimeException failure) {
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
