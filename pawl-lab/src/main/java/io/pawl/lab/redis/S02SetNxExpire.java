package io.pawl.lab.redis;

import io.lettuce.core.api.sync.RedisCommands;
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

/** The holder dies between SETNX and EXPIRE. */
public final class S02SetNxExpire implements Specimen {

  private static final long LEASE_SECONDS = 1;

  private static final class Died extends RuntimeException {
    private static final long serialVersionUID = 1L;
  }

  @Override
  public String id() {
    return "S2";
  }

  @Override
  public String title() {
    return "SETNX, then EXPIRE";
  }

  @Override
  public String origin() {
    return "The usual mend of S1.";
  }

  @Override
  public Service service() {
    return Service.REDIS;
  }

  @Override
  public Finding play(Stage stage) {
    Trace trace = stage.trace();
    RedisCommands<String, String> server = stage.redis();
    try {
      new SetNx(stage.redis(), stage.name(), LEASE_SECONDS)
          .tryLock(
              () -> {
                trace.step("A", "SETNX → 1");
                throw new Died();
              });
    } catch (Died e) {
      trace.fault("A", "dies before EXPIRE");
    }
    boolean taken = new SetNx(stage.redis(), stage.name(), LEASE_SECONDS).tryLock();
    trace.refused("B", "SETNX → " + (taken ? 1 : 0));
    long ttl = server.pttl(stage.name());
    trace.step("server", "PTTL → " + ttl);
    return new Finding(
        !taken && ttl == -1 ? Verdict.LOCKED_FOR_EVER : Verdict.NOT_REPRODUCED,
        "the lease was to come with a second command, which nobody sent",
        "SETNX → 0, PTTL → " + ttl);
  }

  /**
   * The nearest that Pawl has: its one command is executed, and its sender is never heard again.
   */
  @Override
  public Finding pawl(Stage stage) throws Exception {
    Trace trace = stage.trace();
    FaultProxy line = stage.redisProxy();
    Pawl a = stage.pawlOnRedis(line);
    Pawl b = stage.pawl(service());
    a.lock(stage.name() + "-warm").acquire().close(); // the server knows the script from now on
    line.blackHole(Direction.TO_CLIENT);
    var unheard = a.lock(stage.name(), Stage.shortLease()).acquireAsync();
    stage.await("A's command is executed", () -> !b.inspect(stage.name()).holders().isEmpty());
    trace.step("A", "one command takes the lock with its lease; the reply is lost");
    line.cut();
    trace.fault("A", "falls silent for good");
    Finding finding = PawlSteps.nextGetsIn(stage, b, "B");
    return unheard.isDone()
        ? new Finding(Verdict.TWO_HOLDERS, "A was told of a grant", "its future")
        : finding;
  }
}
