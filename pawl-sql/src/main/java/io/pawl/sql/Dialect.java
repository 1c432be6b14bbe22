package io.pawl.sql;

import io.pawl.StoreConfigurationException;
import io.pawl.StoreDeniedException;
import io.pawl.StoreException;
import io.pawl.StoreUnavailableException;
import io.pawl.spi.Diagnosable.Finding;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/** What differs between databases. */
interface Dialect {

  /** What a failed transaction means for the requests in it. */
  enum Failure {
    /** Nothing was applied, somebody else was in the way: run the whole transaction again. */
    CONFLICT,
    /** The connection or the server is gone; the outcome of a commit is unknown. */
    UNAVAILABLE,
    /** The account lacks a right, or its credentials are wrong. */
    DENIED,
    /** This database cannot be used as it is. */
    UNUSABLE,
    /** Anything else. */
    OTHER
  }

  /** Where it is, without password. */
  String describe();

  /** A connection for transactions. */
  Connection openWriter() throws SQLException;

  /** A connection for reading. */
  Connection openReader() throws SQLException;

  /** Begins a transaction that will write. */
  void begin(Connection writer) throws SQLException;

  void commit(Connection writer) throws SQLException;

  void rollBack(Connection writer) throws SQLException;

  /** Creates or checks the tables; run once, in a transaction of {@link #openWriter}. */
  void prepare(Connection writer) throws SQLException;

  /** The store's time in milliseconds since 1970, never going back while the database runs. */
  long now(Connection connection) throws SQLException;

  /** Inserts or replaces one row: name, last_token, holders, waiters, withdrawn. */
  String upsert();

  /**
   * A number that changes when any other connection has committed; cheap to ask many times a
   * second.
   */
  long changes(Connection reader) throws SQLException;

  Failure classify(SQLException failure);

  /** Examines the server for {@link io.pawl.spi.Diagnosable}. */
  List<Finding> diagnose(Connection reader) throws SQLException;

  /** The exception that a user gets for {@code failure}. */
  default StoreException explain(SQLException failure) {
    String what = describe() + ": " + failure.getMessage();
    return switch (classify(failure)) {
      case CONFLICT, UNAVAILABLE -> new StoreUnavailableException(what, failure);
      case DENIED -> new StoreDeniedException(what, failure);
      case UNUSABLE -> new StoreConfigurationException(what, failure);
      case OTHER -> new StoreException(what, failure);
    };
  }
}
