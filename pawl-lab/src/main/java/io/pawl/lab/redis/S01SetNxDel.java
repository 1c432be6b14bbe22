package io.pawl.lab.redis;

import io.lettuce.core.api.sync.RedisCommands;
import io.pawl.lab.stage.Finding;
import io.pawl.lab.stage.PawlSteps;
import io.pawl.lab.stage.Service;
import io.pawl.lab.stage.Specimen;
import io.pawl.lab.stage.Stage;
import io.pawl.lab.stage.Trace;
import io.pawl.lab.stage.Verdict;

/** The holder dies before its DEL, and nothing else ends the lock. */
public final class S01SetNxDel implements Specimen {

  @Override
  public String id() {
    return "S1";
  }

  @Override
  public String title() {
    return "SETNX, then DEL";
  }

  @Override
  public String origin() {
    return "The first lock of every tutorial.";
  }

  @Override
  public Service service() {
    return Service.REDIS;
  }

  @Override
  public Finding play(Stage stage) {
    Trace trace = stage.trace();
    RedisCommands<String, String> server = stage.redis();
    SetNx a = new SetNx(stage.redis(), stage.name(), 0);
    SetNx b = new SetNx(stage.redis(), stage.name(), 0);
    a.tryLock();
    trace.holds("A", "SETNX → 1");
    a.unlock();
    trace.ends("A", "DEL");
    a.tryLock();
    trace.holds("A", "SETNX → 1");
    trace.dies("A", "dies before its DEL");
    boolean taken = b.tryLock();
    trace.refused("B", "SETNX → " + (taken ? 1 : 0));
    long ttl = server.pttl(stage.name());
    trace.step("server", "PTTL → " + ttl);
    return new Finding(
        !taken && ttl == -1 ? Verdict.LOCKED_FOR_EVER : Verdict.NOT_REPRODUCED,
        "the key of a dead holder has no expiry",
        "SETNX → 0, PTTL → " + ttl);
  }

  @Override
  public Finding pawl(Stage stage) throws Exception {
    return PawlSteps.holderIsKilled(stage, service());
  }
}
