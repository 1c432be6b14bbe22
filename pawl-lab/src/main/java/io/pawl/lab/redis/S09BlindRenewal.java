package io.pawl.lab.redis;

import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.lab.stage.Finding;
import io.pawl.lab.stage.PawlSteps;
import io.pawl.lab.stage.Service;
import io.pawl.lab.stage.Specimen;
import io.pawl.lab.stage.Stage;
import io.pawl.lab.stage.Trace;
import io.pawl.lab.stage.Verdict;
import io.pawl.servers.Direction;
import io.pawl.servers.FaultProxy;

/** A renewal thread extends whatever lock has the name. */
public final class S09BlindRenewal implements Specimen {

  private static final long SHORT_MILLIS = 100;
  private static final long LEASE_MILLIS = 30_000;
  private static final int RENEWALS = 5;

  @Override
  public String id() {
    return "S9";
  }

  @Override
  public String title() {
    return "S6 with a renewal thread that does not compare";
  }

  @Override
  public String origin() {
    return "Home-made watchdogs.";
  }

  @Override
  public Service service() {
    return Service.REDIS;
  }

  @Override
  public Finding play(Stage stage) throws Exception {
    Trace trace = stage.trace();
    var server = stage.redis();
    var daemon = stage.redis();
    ValueLock a = new ValueLock(stage.redis(), stage.name(), "a-17");
    ValueLock b = new ValueLock(stage.redis(), stage.name(), "b-42");
    ValueLock c = new ValueLock(stage.redis(), stage.name(), "c-99");
    a.tryLock(SHORT_MILLIS);
    trace.holds("A", "SET NX PX 100 → OK");
    stage.await("the key runs out", () -> server.exists(stage.name()) == 0);
    trace.dies("A", "stands still: the key is gone");
    b.tryLock(SHORT_MILLIS * 10);
    trace.holds("B", "SET NX PX 1000 → OK");
    trace.dies("B", "dies; its lock has 1 s to live");
    long ttl = 0;
    for (int renewal = 0; renewal < RENEWALS; renewal++) {
      boolean extended = daemon.pexpire(stage.name(), LEASE_MILLIS);
      ttl = server.pttl(stage.name());
      trace.step("A", "renewal thread: PEXPIRE 30000 → " + (extended ? 1 : 0));
    }
    trace.step("server", "GET → " + server.get(stage.name()) + ", PTTL → " + ttl);
    boolean taken = c.tryLock(SHORT_MILLIS);
    trace.refused("C", "SET NX PX → " + (taken ? "OK" : "nil"));
    return new Finding(
        !taken && ttl > LEASE_MILLIS / 2 ? Verdict.LOCKED_FOR_EVER : Verdict.NOT_REPRODUCED,
        "A's renewal thread keeps the lock of the dead B for as long as A lives",
        "PTTL → " + ttl + " of a lock whose owner died with 1,000 left");
  }

  @Override
  public Finding pawl(Stage stage) throws Exception {
    Trace trace = stage.trace();
    FaultProxy line = stage.redisProxy();
    Pawl dying = stage.pawlOnRedis(line);
    // A's client lives on: it renews another lock all the time, and would renew this one.
    Pawl a = stage.pawl(service());
    Lease other = a.lock(stage.name() + "-other", Stage.renewedLease()).acquire();
    PawlSteps.holdsWithoutRenewal(stage, a, "A");
    trace.fault("A", "stands still for longer than its lease");
    PawlSteps.granted(stage, dying, "B", Stage.shortLease());
    line.blackHole(Direction.TO_SERVER);
    trace.dies("B", "falls silent for good");
    Finding finding = PawlSteps.nextGetsIn(stage, stage.pawl(service()), "C");
    return other.isValid()
        ? finding
        : new Finding(Verdict.STALLED, "A's client renewed nothing", "isValid of another lock");
  }
}
