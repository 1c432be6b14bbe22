package io.pawl.sql.connection;

import io.pawl.concurrent.KeptInterrupts;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.function.Supplier;

/** Where a store's connections come from. */
public interface Connections {

  /** Where they lead, without password. */
  String describe();

  /** A connection; the caller closes it. */
  Connection open() throws SQLException;

  /**
   * Whether they are the store's own: set up by us, and kept while nobody asks. Otherwise they are
   * the application's, are returned between batches, and leave as they came.
   */
  boolean areOurs();

  /**
   * Runs {@code work}, which uses a connection. On the application's threads its connections may be
   * bound to transactions that it has under way, so that they are used on threads of our own only.
   * Drivers fail on a thread that is interrupted; it is so again afterwards.
   */
  default <T> T use(Supplier<T> work) {
    if (!areOurs()) {
      return OwnThread.call("pawl-sql-reader", work);
    }
    try (KeptInterrupts kept = new KeptInterrupts()) {
      kept.clear();
      return work.get();
    }
  }
}
