package io.pawl.lab.redis;

import io.lettuce.core.api.sync.RedisCommands;
import io.pawl.Counter;
import io.pawl.Pawl;
import io.pawl.counter.OperationId;
import io.pawl.lab.stage.Finding;
import io.pawl.lab.stage.Service;
import io.pawl.lab.stage.Specimen;
import io.pawl.lab.stage.Stage;
import io.pawl.lab.stage.Trace;
import io.pawl.lab.stage.Verdict;
import io.pawl.servers.FaultProxy;
import io.pawl.servers.FaultProxy.AfterDrop;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** All that look while something is left take it. */
public final class S12StockCounter implements Specimen {

  private static final int PRIZES = 10;
  private static final int BUYERS = 14;
  private static final int IN_TURN = PRIZES - 1;

  @Override
  public String id() {
    return "S12";
  }

  @Override
  public String title() {
    return "stock: GET, check, DECR";
  }

  @Override
  public String origin() {
    return "Flash sales and prize draws.";
  }

  @Override
  public Service service() {
    return Service.REDIS;
  }

  @Override
  public Finding play(Stage stage) {
    Trace trace = stage.trace();
    RedisCommands<String, String> redis = stage.redis();
    String stock = stage.name();
    redis.set(stock, "" + PRIZES);
    trace.step("server", "SET stock 10");
    int given = 0;
    for (int buyer = 1; buyer <= IN_TURN; buyer++) {
      if (left(redis, stock) > 0) {
        redis.decr(stock);
        given++;
      }
    }
    trace.step("1–9", "GET → above 0, DECR, one after another");
    List<Long> looks = new ArrayList<>();
    for (int buyer = IN_TURN; buyer < BUYERS; buyer++) {
      looks.add(left(redis, stock));
    }
    trace.step("10–14", "GET → " + looks + ", before any of them DECRs");
    for (long look : looks) {
      if (look > 0) {
        redis.decr(stock);
        given++;
      }
    }
    trace.step("10–14", "DECR, five times");
    String rest = redis.get(stock);
    trace.step("server", "GET stock → " + rest);
    return new Finding(
        given > PRIZES ? Verdict.OVERSOLD : Verdict.NOT_REPRODUCED,
        given + " of " + PRIZES + " prizes are given away",
        "GET stock → " + rest);
  }

  private static long left(RedisCommands<String, String> redis, String stock) {
    String value = redis.get(stock);
    return value == null ? 0 : Long.parseLong(value);
  }

  /** The fourteen at once, and one of them asks again, since its reply is lost. */
  @Override
  public Finding pawl(Stage stage) throws Exception {
    Trace trace = stage.trace();
    FaultProxy line = stage.redisProxy();
    Pawl pawl = stage.pawl(service());
    Counter stock = pawl.counter(stage.name());
    stock.add(PRIZES);
    trace.step("server", "the counter is 10, its floor 0");
    Counter unlucky = stage.pawlOnRedis(line).counter(stage.name());
    unlucky.get();
    line.dropReplies(1, AfterDrop.RESET, "EVALSHA", "EVAL", "FCALL");
    trace.fault("1", "the reply to its take will be lost");
    int given = unlucky.tryTake(1, OperationId.of(stage.name() + "-1")).isApplied() ? 1 : 0;
    trace.step(
        "1", "tryTake, sent again by itself: applied once; replies lost: " + line.droppedReplies());
    List<CompletableFuture<Boolean>> takes = new ArrayList<>();
    for (int buyer = 2; buyer <= BUYERS; buyer++) {
      OperationId id = OperationId.of(stage.name() + "-" + buyer);
      takes.add(stage.async(() -> stock.tryTake(1, id).isApplied()));
    }
    for (CompletableFuture<Boolean> take : takes) {
      given += stage.get(take) ? 1 : 0;
    }
    trace.step("2–14", "tryTake at once: " + given + " applied in all, the others refused");
    long rest = stock.get();
    trace.step("server", "the counter is " + rest);
    return given == PRIZES && rest == 0 && line.droppedReplies() == 1
        ? Finding.stands("10 of 10 prizes, one of them taken with its reply lost", "the counter")
        : new Finding(Verdict.OVERSOLD, given + " of 10 prizes", "the counter is " + rest);
  }
}
