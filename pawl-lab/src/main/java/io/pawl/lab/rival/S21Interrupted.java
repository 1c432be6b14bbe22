package io.pawl.lab.rival;

import io.pawl.DistributedLock;
import io.pawl.lab.stage.Finding;
import io.pawl.lab.stage.LabException;
import io.pawl.lab.stage.PawlSteps;
import io.pawl.lab.stage.Service;
import io.pawl.lab.stage.Specimen;
import io.pawl.lab.stage.Stage;
import io.pawl.lab.stage.Trace;
import io.pawl.lab.stage.Verdict;
import io.pawl.servers.Direction;
import io.pawl.servers.FaultProxy;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.redisson.api.RLock;

/** A thread is interrupted while the server's yes is on its way. */
public final class S21Interrupted implements Specimen {

  private static final Duration ON_ITS_WAY = Duration.ofMillis(1_500);

  @Override
  public String id() {
    return "S21";
  }

  @Override
  public String title() {
    return RedissonClients.TITLE + ": lockInterruptibly, interrupted as it is granted";
  }

  @Override
  public String origin() {
    return "redisson #7272.";
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
    RLock a =
        RedissonClients.at(stage, "redis://" + line.host() + ":" + line.port())
            .getLock(stage.name());
    a.lock();
    a.unlock(); // its scripts are loaded, its connections open
    line.delay(Direction.TO_CLIENT, ON_ITS_WAY);
    trace.fault("A", "replies take 1,500 ms from here on");
    boolean interrupted =
        isInterrupted(
            stage,
            () -> {
              a.lockInterruptibly();
              return true;
            },
            () -> server.exists(stage.name()) == 1);
    if (!interrupted) {
      throw new LabException("A had the lock before it was interrupted");
    }
    trace.fault("A", "is interrupted while the server's yes is on its way, and learns of it");
    line.heal();
    Duration long4 = RedissonClients.WATCHDOG.multipliedBy(4);
    boolean free = stage.holdsWithin(long4, () -> server.exists(stage.name()) == 0);
    trace.step("server", free ? "the key is gone" : "the key is there after four time-outs");
    return new Finding(
        free ? Verdict.NOT_REPRODUCED : Verdict.LOCKED_FOR_EVER,
        free
            ? "the key of the interrupted thread is not renewed, and runs out"
            : "the lock is held by a thread that never got it, and is renewed as long as the client"
                + " lives",
        "EXISTS → " + server.exists(stage.name()) + ", PTTL → " + server.pttl(stage.name()));
  }

  /** Runs {@code locking} on a thread that is interrupted once {@code granted}. */
  private static boolean isInterrupted(
      Stage stage, Callable<Boolean> locking, Callable<Boolean> granted) throws Exception {
    CompletableFuture<Thread> thread = new CompletableFuture<>();
    CompletableFuture<Boolean> locked =
        stage.async(
            () -> {
              thread.complete(Thread.currentThread());
              return locking.call();
            });
    stage.await("the server has said yes", granted);
    stage.get(thread).interrupt();
    try {
      stage.get(locked);
      return false;
    } catch (ExecutionException e) {
      return isOfAnInterrupt(e);
    }
  }

  private static boolean isOfAnInterrupt(Throwable thrown) {
    for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
      if (cause instanceof InterruptedException) {
        return true;
      }
    }
    return false;
  }

  @Override
  public Finding pawl(Stage stage) throws Exception {
    Trace trace = stage.trace();
    var server = stage.pawl(service());
    FaultProxy line = stage.redisProxy();
    DistributedLock a = stage.pawlOnRedis(line).lock(stage.name());
    a.acquire().close();
    line.delay(Direction.TO_CLIENT, ON_ITS_WAY);
    trace.fault("A", "replies take 1,500 ms from here on");
    boolean interrupted =
        isInterrupted(
            stage,
            () -> {
              a.acquire();
              return true;
            },
            () -> !server.inspect(stage.name()).holders().isEmpty());
    trace.fault(
        "A",
        "is interrupted while the server's yes is on its way: it "
            + (interrupted ? "learns of it" : "has the lock"));
    line.heal();
    return interrupted
        ? PawlSteps.nextGetsIn(stage, server, "B")
        : new Finding(Verdict.STALLED, "A was not interrupted", "InterruptedException");
  }
}
