package io.pawl.sql.dialect;

import java.io.EOFException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLRecoverableException;
import java.sql.SQLTimeoutException;
import java.sql.SQLTransientConnectionException;

/** What the SQLSTATE of a failure means, and the class of JDBC's exceptions, for every database. */
public final class SqlStates {

  private static final int MOST_CAUSES = 10;

  private SqlStates() {}

  public static Dialect.Failure classify(SQLException failure) {
    String state = failure.getSQLState() == null ? "" : failure.getSQLState();
    return switch (state) {
      case "55P03" -> Dialect.Failure.BLOCKED; // lock not available
      // serialization failure, deadlock, unique violation; another client creates the same table
      // at this moment (IF NOT EXISTS looks before it locks)
      case "40001", "40P01", "23505", "42P07", "42710" -> Dialect.Failure.CONFLICT;
      case "40003" -> Dialect.Failure.INTERRUPTED; // nobody knows whether it was completed
      case "42501" -> Dialect.Failure.DENIED;
      case "25006" -> Dialect.Failure.READ_ONLY; // transaction or server
      // no such database, schema or table
      case "3D000", "3F000", "42P01", "42S02" -> Dialect.Failure.UNUSABLE;
      default -> byClass(state, failure);
    };
  }

  private static Dialect.Failure byClass(String state, SQLException failure) {
    String kind = state.length() < 2 ? "" : state.substring(0, 2);
    return switch (kind) {
      // connection, resources, operator intervention, system error; an idle transaction was ended
      case "08", "53", "57", "58", "25" -> Dialect.Failure.UNAVAILABLE;
      case "28" -> Dialect.Failure.DENIED;
      case "40" -> Dialect.Failure.CONFLICT;
      default -> byException(failure);
    };
  }

  private static Dialect.Failure byException(SQLException failure) {
    boolean connection =
        failure instanceof SQLTransientConnectionException
            || failure instanceof SQLNonTransientConnectionException
            || failure instanceof SQLRecoverableException
            || failure instanceof SQLTimeoutException
            || isOfTheNetwork(failure);
    return connection ? Dialect.Failure.UNAVAILABLE : Dialect.Failure.OTHER;
  }

  /** MySQL's driver has no state for a connection that is lost in the middle of an answer. */
  private static boolean isOfTheNetwork(SQLException failure) {
    Throwable next = failure;
    for (int i = 0; next != null && i < MOST_CAUSES; i++) {
      if (next instanceof EOFException
          || next instanceof SocketException
          || next instanceof SocketTimeoutException) {
        return true;
      }
      next = next.getCause();
    }
    return false;
  }
}
