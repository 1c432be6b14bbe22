package io.pawl.lab.redis;

import io.pawl.Pawl;
import io.pawl.lab.stage.Actor;
import io.pawl.lab.stage.Finding;
import io.pawl.lab.stage.PawlSteps;
import io.pawl.lab.stage.Service;
import io.pawl.lab.stage.Specimen;
import io.pawl.lab.stage.Stage;
import io.pawl.lab.stage.Trace;
import io.pawl.lab.stage.Verdict;
import io.pawl.servers.Direction;
import io.pawl.servers.FaultProxy;
import java.util.concurrent.atomic.AtomicBoolean;

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
    Actor a = stage.actor(service());
    long token = a.awaitHold();
    AtomicBoolean stopped = new AtomicBoolean();
    trace.holds("A", "acquire → token " + token, token, () -> !stopped.get() && a.believes());
    a.pause();
    stopped.set(true);
    trace.fault("A", "stands still for longer than its lease: SIGSTOP");
    if (PawlSteps.granted(stage, dying, "B", Stage.shortLease()).isEmpty()) {
      return new Finding(Verdict.STALLED, "B was not granted the lock", "acquire");
    }
    a.resume();
    stopped.set(false);
    trace.fault("A", "SIGCONT: its client goes on, and renews what it thinks is its own");
    line.blackHole(Direction.TO_SERVER);
    trace.dies("B", "falls silent for good");
    return PawlSteps.nextGetsIn(stage, stage.pawl(service()), "C");
  }
}
