package io.pawl.lab.sql;

import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.lab.stage.Finding;
import io.pawl.lab.stage.Stage;
import io.pawl.lab.stage.Trace;
import io.pawl.lab.stage.Verdict;
import java.sql.Connection;
import java.util.concurrent.CompletableFuture;

/** What S14 and S15 cost: statements for each lock and unlock, and who waits for whom. */
final class CentralCost {

  private static final int PAIRS = 20;

  /** Pawl's for an acquire and a close, but for a fraction that clients send beside. */
  private static final long FEW = 2;

  private CentralCost() {}

  static Finding of(Stage stage, int centralRows, String one, String other) throws Exception {
    Trace trace = stage.trace();
    Connection server = stage.mysql();
    CentralTable.create(server);
    CentralTable a = new CentralTable(stage.mysql(), centralRows);
    CentralTable b = new CentralTable(stage.mysql(), centralRows);
    a.install();
    a.tryLock(one);
    a.unlock(one);
    trace.step("A", "locks and unlocks the name " + one);
    a.enter(one);
    trace.step("A", "is inside its transaction, with " + a.central(one) + " locked");
    CompletableFuture<Boolean> locked = stage.async(() -> b.tryLock(other));
    Db.awaitLockWait(stage, server);
    trace.fault("B", "waits for " + b.central(other) + ", though it wants the name " + other);
    a.leave();
    trace.step("A", "commits");
    boolean taken = stage.get(locked);
    trace.holds("B", "has " + other);
    b.unlock(other);
    trace.ends("B", "unlocks");
    long before = Db.questions(server);
    for (int pair = 0; pair < PAIRS; pair++) {
      a.tryLock(one);
      a.unlock(one);
    }
    double statements = (Db.questions(server) - before - 1.0) / PAIRS;
    trace.step("A", "locks and unlocks 20 times: " + statements + " statements a time");
    return new Finding(
        taken && Math.round(statements) > FEW ? Verdict.COSTLY : Verdict.NOT_REPRODUCED,
        "names that have nothing to do with each other wait for one row; "
            + statements
            + " statements for each lock and unlock",
        "data_lock_waits, Questions");
  }

  static Finding ofPawl(Stage stage, String one, String other) throws Exception {
    Trace trace = stage.trace();
    Connection server = stage.mysql();
    Pawl a = stage.pawl(stage.ground().mysqlUrl());
    Pawl b = stage.pawl(stage.ground().mysqlUrl());
    Lease first = a.lock(one).acquire();
    trace.step("A", "holds the name " + one);
    Lease second = b.lock(other).tryAcquire().orElse(null);
    boolean free = second != null;
    trace.step("B", "tryAcquire " + other + " → " + (free ? "held at once" : "busy"));
    first.close();
    if (second != null) {
      second.close();
    }
    long before = Db.questions(server);
    for (int pair = 0; pair < PAIRS; pair++) {
      a.lock(one).acquire().close();
    }
    double statements = (Db.questions(server) - before - 1.0) / PAIRS;
    trace.step("A", "acquires and closes 20 times: " + statements + " statements a time");
    if (!free) {
      return new Finding(Verdict.STALLED, "names wait for each other", "tryAcquire");
    }
    String cost = statements + " statements for each acquire and close";
    return Math.round(statements) <= FEW
        ? Finding.stands("names are independent; " + cost, "tryAcquire, Questions")
        : new Finding(Verdict.COSTLY, cost, "Questions");
  }
}
