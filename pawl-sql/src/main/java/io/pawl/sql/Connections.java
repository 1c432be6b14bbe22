package io.pawl.sql;

import java.sql.Connection;
import java.sql.SQLException;

/** Where a store's connections come from. */
interface Connections {

  /** Where they lead, without password. */
  String describe();

  /** A connection; the caller closes it. */
  Connection open() throws SQLException;

  /**
   * Whether they are the store's own: set up by us, and kept while nobody asks. Otherwise they are
   * the application's, are returned between batches, and leave as they came.
   */
  boolean areOurs();
}
