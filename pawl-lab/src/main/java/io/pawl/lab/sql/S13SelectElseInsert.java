package io.pawl.lab.sql;

import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.lab.stage.Finding;
import io.pawl.lab.stage.PawlSteps;
import io.pawl.lab.stage.Service;
import io.pawl.lab.stage.Specimen;
import io.pawl.lab.stage.Stage;
import io.pawl.lab.stage.Trace;
import io.pawl.lab.stage.Verdict;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/** Two find no row, and each insert waits for the other's gap lock. */
public final class S13SelectElseInsert implements Specimen {

  private static final int DEADLOCK = 1213;

  @Override
  public String id() {
    return "S13";
  }

  @Override
  public String title() {
    return "SELECT … FOR UPDATE; a row: UPDATE, none: INSERT";
  }

  @Override
  public String origin() {
    return "The first lock table of every tutorial.";
  }

  @Override
  public Service service() {
    return Service.MYSQL;
  }

  @Override
  public Finding play(Stage stage) throws Exception {
    Trace trace = stage.trace();
    Connection server = stage.mysql();
    Db.run(
        server,
        "CREATE TABLE IF NOT EXISTS lab_s13 (name VARCHAR(100) PRIMARY KEY, deadline BIGINT)");
    Connection a = begun(stage);
    Connection b = begun(stage);
    look(a, stage.name());
    trace.step("A", "SELECT … FOR UPDATE → no row; it locks the gap");
    look(b, stage.name());
    trace.step("B", "SELECT … FOR UPDATE → no row; it locks the same gap");
    CompletableFuture<Integer> first = stage.async(() -> insert(a, stage.name()));
    Db.awaitLockWait(stage, server);
    trace.step("A", "INSERT → waits for B's gap lock");
    int code = 0;
    try {
      insert(b, stage.name());
      b.rollback();
      stage.get(first);
    } catch (SQLException e) {
      code = e.getErrorCode();
    } catch (ExecutionException e) {
      code = e.getCause() instanceof SQLException error ? error.getErrorCode() : 0;
    }
    trace.fault("B", "INSERT → error " + code + " reaches one of the two");
    return new Finding(
        code == DEADLOCK ? Verdict.DEADLOCK : Verdict.NOT_REPRODUCED,
        "the first acquires of a new name end in a deadlock, which one of the callers sees",
        "error " + code);
  }

  private static Connection begun(Stage stage) throws SQLException {
    Connection connection = stage.mysql();
    connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
    connection.setAutoCommit(false);
    return connection;
  }

  private static void look(Connection connection, String name) throws SQLException {
    Db.number(connection, "SELECT deadline FROM lab_s13 WHERE name = ? FOR UPDATE", name);
  }

  private static int insert(Connection connection, String name) throws SQLException {
    return Db.run(
        connection, "INSERT INTO lab_s13 VALUES (?, ?)", name, System.currentTimeMillis());
  }

  @Override
  public Finding pawl(Stage stage) throws Exception {
    Trace trace = stage.trace();
    Pawl a = stage.pawl(service());
    Pawl b = stage.pawl(service());
    var first = a.lock(stage.name()).acquireAsync();
    var second = b.lock(stage.name()).acquireAsync();
    trace.step("A", "acquire a new name");
    trace.step("B", "acquire the same, at the same time");
    stage.await("one is granted", () -> first.isDone() || second.isDone());
    boolean isB = second.isDone();
    Lease lease = stage.get(isB ? second : first);
    stage.holds(isB ? "B" : "A", "granted", lease);
    boolean refused = PawlSteps.isRefused(stage, stage.pawl(service()), "C");
    lease.close();
    trace.ends(isB ? "B" : "A", "close");
    stage.holds(isB ? "A" : "B", "granted", stage.get(isB ? first : second));
    return refused
        ? Finding.standsUnlessShared(
            trace, "no error reaches a caller; both hold, in turn", "both futures")
        : Finding.twoHolders(trace, "another was granted the lock");
  }
}
