package io.pawl.lab.sql;

import io.pawl.Counter;
import io.pawl.Pawl;
import io.pawl.lab.stage.Finding;
import io.pawl.lab.stage.Service;
import io.pawl.lab.stage.Specimen;
import io.pawl.lab.stage.Stage;
import io.pawl.lab.stage.Trace;
import io.pawl.lab.stage.Verdict;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Each round one of those that have read the same version wins; all have done the work. */
public final class S17Version implements Specimen {

  private static final int CLIENTS = 8;

  /** What a change costs that meets no other on its way. */
  private static final int FEW_STATEMENTS = 4 * CLIENTS;

  @Override
  public String id() {
    return "S17";
  }

  @Override
  public String title() {
    return "UPDATE … WHERE version = ?, again until it changes a row";
  }

  @Override
  public String origin() {
    return "Optimistic locking, as mappers offer it.";
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
        "CREATE TABLE IF NOT EXISTS lab_s17"
            + " (name VARCHAR(100) PRIMARY KEY, value BIGINT, version BIGINT)");
    Db.run(server, "INSERT INTO lab_s17 VALUES (?, 0, 0)", stage.name());
    List<Connection> waiting = new ArrayList<>();
    for (int client = 0; client < CLIENTS; client++) {
      waiting.add(stage.mysql());
    }
    int works = 0;
    while (!waiting.isEmpty()) {
      List<Long> versions = new ArrayList<>();
      for (Connection client : waiting) {
        versions.add(
            Db.number(client, "SELECT version FROM lab_s17 WHERE name = ?", stage.name())
                .orElseThrow());
        works++;
      }
      List<Connection> losers = new ArrayList<>();
      for (int client = 0; client < waiting.size(); client++) {
        int changed =
            Db.run(
                waiting.get(client),
                "UPDATE lab_s17 SET value = value + 1, version = version + 1"
                    + " WHERE name = ? AND version = ?",
                stage.name(),
                versions.get(client));
        if (changed == 0) {
          losers.add(waiting.get(client));
        }
      }
      trace.step("clients", waiting.size() + " read the version and work, one wins");
      waiting = losers;
    }
    long value =
        Db.number(server, "SELECT value FROM lab_s17 WHERE name = ?", stage.name()).orElse(0);
    trace.step("server", "the value is " + value);
    return new Finding(
        value == CLIENTS && works > CLIENTS ? Verdict.COSTLY : Verdict.NOT_REPRODUCED,
        "8 changes cost 8 clients " + works + " times the work and " + 2 * works + " statements",
        "counted");
  }

  @Override
  public Finding pawl(Stage stage) throws Exception {
    Trace trace = stage.trace();
    Connection server = stage.mysql();
    Pawl pawl = stage.pawl(service());
    Counter counter = pawl.counter(stage.name());
    counter.get();
    long before = Db.questions(server);
    List<CompletableFuture<Boolean>> changes = new ArrayList<>();
    for (int client = 0; client < CLIENTS; client++) {
      changes.add(stage.async(() -> counter.add(1).isApplied()));
    }
    int applied = 0;
    for (CompletableFuture<Boolean> change : changes) {
      applied += stage.get(change) ? 1 : 0;
    }
    long statements = Db.questions(server) - before - 1;
    trace.step("clients", "8 threads add 1 at once: " + statements + " statements in all");
    long value = counter.get();
    trace.step("server", "the counter is " + value);
    if (applied != CLIENTS || value != CLIENTS) {
      return new Finding(Verdict.OVERSOLD, applied + " of 8 changes", "the counter is " + value);
    }
    String cost = "8 changes, each done once, in " + statements + " statements of one client";
    return statements <= FEW_STATEMENTS
        ? Finding.stands(cost, "Questions")
        : new Finding(Verdict.COSTLY, cost, "Questions");
  }
}
