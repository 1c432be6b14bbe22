package io.pawl.lab.rival;

import io.lettuce.core.api.sync.RedisCommands;
import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.lab.stage.Finding;
import io.pawl.lab.stage.Service;
import io.pawl.lab.stage.Specimen;
import io.pawl.lab.stage.Stage;
import io.pawl.lab.stage.Trace;
import io.pawl.lab.stage.Verdict;
import io.pawl.options.LockOptions;
import io.pawl.servers.FaultProxy;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RLock;

/** The next in line is dead, the lock is free, and the others stand behind. */
public final class S23DeadWaiter implements Specimen {

  @Override
  public String id() {
    return "S23";
  }

  @Override
  public String title() {
    return RedissonClients.TITLE + ": fair lock, whose next waiter is dead";
  }

  @Override
  public String origin() {
    return "redisson #3730, #3004, #2099.";
  }

  @Override
  public Service service() {
    return Service.REDIS;
  }

  @Override
  public Finding play(Stage stage) throws Exception {
    Trace trace = stage.trace();
    var server = stage.redis();
    FaultProxy line = stage.redisProxy();
    RLock a = RedissonClients.on(stage).getFairLock(stage.name());
    RLock b =
        RedissonClients.at(stage, "redis://" + line.host() + ":" + line.port())
            .getFairLock(stage.name());
    RLock c = RedissonClients.on(stage).getFairLock(stage.name());
    String queue = "redisson_lock_queue:{" + stage.name() + "}";
    a.lock();
    trace.holds("A", "lock()");
    stage.async(
        () -> {
          b.lock();
          return true;
        });
    stage.await("B stands in line", () -> server.llen(queue) == 1);
    trace.step("B", "lock() → stands in line");
    line.cut();
    trace.fault("B", "falls silent for good");
    a.unlock();
    trace.ends("A", "unlock()");
    long millis = Stage.LEASE.plus(Stage.SLACK).toMillis();
    boolean taken = c.tryLock(millis, TimeUnit.MILLISECONDS);
    boolean free = server.exists(stage.name()) == 0;
    trace.refused("C", "tryLock(" + millis + " ms) → " + taken);
    long left = secondsOfTheFirst(stage, server);
    trace.step(
        "server", "the lock is " + (free ? "free" : "held") + "; B's place ends in " + left + " s");
    return new Finding(
        !taken && free ? Verdict.STALLED : Verdict.NOT_REPRODUCED,
        "nobody holds the lock, and nobody gets it until the dead waiter's place ends in "
            + left
            + " s",
        "tryLock → " + taken + " after " + millis + " ms, EXISTS → " + (free ? 0 : 1));
  }

  private static long secondsOfTheFirst(Stage stage, RedisCommands<String, String> server) {
    String timeouts = "redisson_lock_timeout:{" + stage.name() + "}";
    return server.zrangeWithScores(timeouts, 0, 0).stream()
        .mapToLong(it -> Math.round((it.getScore() - System.currentTimeMillis()) / 1e3))
        .findFirst()
        .orElse(0);
  }

  @Override
  public Finding pawl(Stage stage) throws Exception {
    Trace trace = stage.trace();
    FaultProxy line = stage.redisProxy();
    LockOptions strict = Stage.shortLease().strictOrder();
    Pawl first = stage.pawl(service());
    Lease a = first.lock(stage.name(), LockOptions.defaults().strictOrder()).acquire();
    stage.holds("A", "acquire, strict order", a);
    stage.pawlOnRedis(line).lock(stage.name(), strict).acquireAsync();
    stage.await("B stands in line", () -> first.inspect(stage.name()).waiters().size() == 1);
    trace.step("B", "acquire → stands in line");
    line.cut();
    trace.fault("B", "falls silent for good");
    a.close();
    trace.ends("A", "close");
    long startNanos = System.nanoTime();
    Optional<Lease> c =
        stage.pawl(service()).lock(stage.name(), strict).tryAcquire(Stage.LEASE.plus(Stage.SLACK));
    long millis = (System.nanoTime() - startNanos) / 1_000_000;
    c.ifPresent(it -> stage.holds("C", "tryAcquire", it));
    return c.isPresent()
        ? Finding.standsUnlessShared(
            trace,
            "C is granted the lock after " + millis + " ms; B's lease was 1000 ms",
            "witness")
        : new Finding(Verdict.STALLED, "C was not granted the lock", millis + " ms");
  }
}
