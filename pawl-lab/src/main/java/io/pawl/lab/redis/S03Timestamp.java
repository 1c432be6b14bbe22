package io.pawl.lab.redis;

import io.lettuce.core.api.sync.RedisCommands;
import io.pawl.Pawl;
import io.pawl.lab.stage.Finding;
import io.pawl.lab.stage.PawlSteps;
import io.pawl.lab.stage.Service;
import io.pawl.lab.stage.Specimen;
import io.pawl.lab.stage.Stage;
import io.pawl.lab.stage.Trace;
import io.pawl.servers.Direction;
import io.pawl.servers.FaultProxy;
import java.time.Duration;

/** Two see that the same lease is over; the second deletes what the first has just taken. */
public final class S03Timestamp implements Specimen {

  private static final Duration LEASE = Duration.ofSeconds(10);

  /** SETNX with the deadline as the value; whoever finds it passed deletes the key first. */
  @SuppressWarnings("deprecation") // the command is the subject
  private record TimestampLock(RedisCommands<String, String> redis, String name) {

    /**
     * @param afterLook run when the stored deadline was found passed
     */
    boolean tryLock(Runnable afterLook) {
      String stored = redis.get(name);
      if (stored != null && Long.parseLong(stored) < System.currentTimeMillis()) {
        afterLook.run();
        redis.del(name);
      }
      long deadline = System.currentTimeMillis() + LEASE.toMillis();
      if (!redis.setnx(name, Long.toString(deadline))) {
        return false;
      }
      redis.expire(name, LEASE.toSeconds());
      return true;
    }
  }

  @Override
  public String id() {
    return "S3";
  }

  @Override
  public String title() {
    return "SETNX with a deadline, cleared by hand";
  }

  @Override
  public String origin() {
    return "A mend of S2: whoever finds the deadline passed deletes the key.";
  }

  @Override
  public Service service() {
    return Service.REDIS;
  }

  @Override
  public Finding play(Stage stage) {
    Trace trace = stage.trace();
    long past = System.currentTimeMillis() - 1;
    stage.redis().set(stage.name(), Long.toString(past));
    trace.fault("P1", "died before its EXPIRE; its deadline has passed");
    TimestampLock p2 = new TimestampLock(stage.redis(), stage.name());
    TimestampLock p3 = new TimestampLock(stage.redis(), stage.name());
    boolean both =
        p3.tryLock(
            () -> {
              trace.step("P3", "GET → the deadline has passed");
              p2.tryLock(() -> trace.step("P2", "GET → the deadline has passed"));
              trace.holds("P2", "DEL, SETNX → 1");
            });
    if (both) {
      trace.holds("P3", "DEL (of P2's key), SETNX → 1");
    }
    trace.writes("P2", "writes");
    return Finding.twoHolders(trace, "P3 deletes the lock that P2 has just taken, and takes it");
  }

  @Override
  public Finding pawl(Stage stage) throws Exception {
    Trace trace = stage.trace();
    FaultProxy line = stage.redisProxy();
    Pawl p1 = stage.pawlOnRedis(line);
    stage.holds("P1", "acquire", p1.lock(stage.name(), Stage.shortLease()).acquire());
    line.blackHole(Direction.TO_SERVER);
    trace.fault("P1", "falls silent for good");
    Pawl p2 = stage.pawl(service());
    Pawl p3 = stage.pawl(service());
    var second = p3.lock(stage.name(), Stage.shortLease()).acquireAsync();
    trace.step("P3", "acquire → waits in line");
    var first = p2.lock(stage.name(), Stage.shortLease()).acquireAsync();
    trace.step("P2", "acquire → waits in line");
    stage.await("one of them is granted", () -> first.isDone() || second.isDone());
    boolean isThird = second.isDone();
    stage.holds(isThird ? "P3" : "P2", "acquire", stage.get(isThird ? second : first));
    boolean refused = PawlSteps.isRefused(stage, stage.pawl(service()), "P4");
    boolean alone = !(first.isDone() && second.isDone());
    stage.get(isThird ? second : first).close();
    trace.ends(isThird ? "P3" : "P2", "close");
    stage.holds(isThird ? "P2" : "P3", "acquire", stage.get(isThird ? first : second));
    return refused && alone
        ? Finding.standsUnlessShared(
            trace, "the store decides that a lease is over, once; the two hold in turn", "witness")
        : Finding.twoHolders(trace, "both were granted");
  }
}
