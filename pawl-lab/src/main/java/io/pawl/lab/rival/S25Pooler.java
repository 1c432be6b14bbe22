package io.pawl.lab.rival;

import io.pawl.lab.stage.Finding;
import io.pawl.lab.stage.LabException;
import io.pawl.lab.stage.PawlSteps;
import io.pawl.lab.stage.Service;
import io.pawl.lab.stage.Specimen;
import io.pawl.lab.stage.Stage;
import io.pawl.lab.stage.Trace;
import io.pawl.lab.stage.Verdict;
import io.pawl.servers.PgBouncer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** The lock belongs to a session of the pooler's, whoever asked for it. */
public final class S25Pooler implements Specimen {

  private static final int POOL = 2;

  @Override
  public String id() {
    return "S25";
  }

  @Override
  public String title() {
    return "pg_advisory_lock through PgBouncer in transaction mode";
  }

  @Override
  public String origin() {
    return "authentik #23876.";
  }

  @Override
  public Service service() {
    return Service.POSTGRES;
  }

  @Override
  public Finding play(Stage stage) throws Exception {
    Trace trace = stage.trace();
    PgBouncer pooler = stage.own(PgBouncer.before(stage.ground().postgres(), POOL));
    String url = stage.ground().postgresUrl(pooler.jdbcUrl());
    long key = stage.name().hashCode();
    Connection a = DriverManager.getConnection(url);
    String session = text(a, "SELECT pg_backend_pid() FROM pg_advisory_lock(" + key + ")");
    trace.holds("A", "pg_advisory_lock → granted, to the pooler's session " + session);
    a.close();
    trace.dies("A", "dies: its connection to the pooler ends");
    Connection other = stage.own(DriverManager.getConnection(url));
    other.setAutoCommit(false);
    String taken = text(other, "SELECT pg_backend_pid()");
    if (!taken.equals(session)) {
      throw new LabException("the pooler gave another session than the one used last");
    }
    trace.step("X", "has a transaction open, on the session " + taken);
    Connection b = stage.own(DriverManager.getConnection(url));
    String granted = text(b, "SELECT pg_try_advisory_lock(" + key + ")");
    trace.refused("B", "pg_try_advisory_lock → " + granted);
    Connection direct =
        stage.own(
            DriverManager.getConnection(
                stage.ground().postgresUrl(stage.ground().postgres().jdbcUrl())));
    String held = text(direct, "SELECT COUNT(*) FROM pg_locks WHERE locktype = 'advisory'");
    trace.step("server", "pg_locks has " + held + " advisory lock, of a session that lives on");
    return new Finding(
        granted.equals("f") && held.equals("1") ? Verdict.LOCKED_FOR_EVER : Verdict.NOT_REPRODUCED,
        "the dead client's lock stays with the pooled session until the pooler ends that",
        "pg_try_advisory_lock → " + granted + ", pg_locks");
  }

  private static String text(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      rows.next();
      return rows.getString(1);
    }
  }

  @Override
  public Finding pawl(Stage stage) throws Exception {
    PgBouncer pooler = stage.own(PgBouncer.before(stage.ground().postgres(), POOL));
    return PawlSteps.holderIsKilled(stage, stage.ground().postgresUrl(pooler.jdbcUrl()));
  }
}
