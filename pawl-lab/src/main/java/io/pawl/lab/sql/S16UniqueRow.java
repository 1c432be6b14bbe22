package io.pawl.lab.sql;

import io.pawl.lab.stage.Finding;
import io.pawl.lab.stage.PawlSteps;
import io.pawl.lab.stage.Service;
import io.pawl.lab.stage.Specimen;
import io.pawl.lab.stage.Stage;
import io.pawl.lab.stage.Trace;
import io.pawl.lab.stage.Verdict;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLIntegrityConstraintViolationException;

/** The row of a holder that died stays. */
public final class S16UniqueRow implements Specimen {

  private record UniqueRowLock(Connection connection, String name) {

    boolean tryLock() throws SQLException {
      try {
        return Db.run(connection, "INSERT INTO lab_s16 VALUES (?)", name) == 1;
      } catch (SQLIntegrityConstraintViolationException e) {
        return false; // a duplicate key means busy
      }
    }

    void unlock() throws SQLException {
      Db.run(connection, "DELETE FROM lab_s16 WHERE name = ?", name);
    }
  }

  @Override
  public String id() {
    return "S16";
  }

  @Override
  public String title() {
    return "INSERT of a unique row, DELETE to release";
  }

  @Override
  public String origin() {
    return "The shortest lock on SQL.";
  }

  @Override
  public Service service() {
    return Service.MYSQL;
  }

  @Override
  public Finding play(Stage stage) throws Exception {
    Trace trace = stage.trace();
    Connection server = stage.mysql();
    Db.run(server, "CREATE TABLE IF NOT EXISTS lab_s16 (name VARCHAR(100) PRIMARY KEY)");
    Connection dying = stage.mysql();
    UniqueRowLock a = new UniqueRowLock(dying, stage.name());
    UniqueRowLock b = new UniqueRowLock(stage.mysql(), stage.name());
    a.tryLock();
    trace.holds("A", "INSERT → 1");
    a.unlock();
    trace.ends("A", "DELETE");
    a.tryLock();
    trace.holds("A", "INSERT → 1");
    dying.close();
    trace.dies("A", "dies, and its connection with it");
    boolean taken = b.tryLock();
    trace.refused("B", "INSERT → " + (taken ? "1" : "duplicate key"));
    long rows =
        Db.number(server, "SELECT COUNT(*) FROM lab_s16 WHERE name = ?", stage.name()).orElse(0);
    trace.step("server", "SELECT COUNT(*) → " + rows + ", in a table that has no time");
    return new Finding(
        !taken && rows == 1 ? Verdict.LOCKED_FOR_EVER : Verdict.NOT_REPRODUCED,
        "the row of a dead holder stays until somebody deletes it by hand",
        "INSERT → duplicate key, COUNT → " + rows);
  }

  @Override
  public Finding pawl(Stage stage) throws Exception {
    return PawlSteps.holderIsKilled(stage, service());
  }
}
