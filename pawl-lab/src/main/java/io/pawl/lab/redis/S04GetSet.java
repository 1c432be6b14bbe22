package io.pawl.lab.redis;

import io.lettuce.core.api.sync.RedisCommands;
import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.lab.stage.Actor;
import io.pawl.lab.stage.Finding;
import io.pawl.lab.stage.LabException;
import io.pawl.lab.stage.PawlSteps;
import io.pawl.lab.stage.Service;
import io.pawl.lab.stage.Specimen;
import io.pawl.lab.stage.Stage;
import io.pawl.lab.stage.Trace;
import java.time.Duration;
import java.util.function.LongSupplier;

/** A loser's GETSET overwrites the winner's deadline, and a clock that is ahead ends any lease. */
public final class S04GetSet implements Specimen {

  private static final long LEASE_MILLIS = 10_000;
  private static final Duration SLIGHTLY_AHEAD = Duration.ofSeconds(5);
  private static final Duration AHEAD = Duration.ofSeconds(30);

  /** The recipe of the SETNX manual page of old, with deadlines by the clients' clocks. */
  @SuppressWarnings("deprecation") // the command is the subject
  private static final class GetSetLock {

    private final RedisCommands<String, String> redis;
    private final String name;
    private final LongSupplier clock;
    private String mine = "";

    GetSetLock(RedisCommands<String, String> redis, String name, LongSupplier clock) {
      this.redis = redis;
      this.name = name;
      this.clock = clock;
    }

    /**
     * @param afterLook run when the stored deadline was found passed
     */
    boolean tryLock(Runnable afterLook) {
      mine = Long.toString(clock.getAsLong() + LEASE_MILLIS);
      if (redis.setnx(name, mine)) {
        return true;
      }
      String stored = redis.get(name);
      if (stored == null || Long.parseLong(stored) >= clock.getAsLong()) {
        return false;
      }
      afterLook.run();
      return stored.equals(redis.getset(name, mine));
    }

    boolean isStored() {
      return mine.equals(redis.get(name));
    }

    void unlock() {
      String stored = redis.get(name);
      if (stored != null && Long.parseLong(stored) >= Long.parseLong(mine)) {
        redis.del(name);
      }
    }
  }

  @Override
  public String id() {
    return "S4";
  }

  @Override
  public String title() {
    return "SETNX and GETSET, deadlines by the clients' clocks";
  }

  @Override
  public String origin() {
    return "The Redis manual recommended it before SET had NX and PX.";
  }

  @Override
  public Service service() {
    return Service.REDIS;
  }

  @Override
  public Finding play(Stage stage) {
    Trace trace = stage.trace();
    String name = stage.name();
    stage.redis().set(name, Long.toString(System.currentTimeMillis() - 1));
    trace.fault("P", "died; its deadline has passed");
    GetSetLock a = new GetSetLock(stage.redis(), name, System::currentTimeMillis);
    GetSetLock b =
        new GetSetLock(
            stage.redis(), name, () -> System.currentTimeMillis() + SLIGHTLY_AHEAD.toMillis());
    GetSetLock c =
        new GetSetLock(stage.redis(), name, () -> System.currentTimeMillis() + AHEAD.toMillis());
    boolean lost =
        !b.tryLock(
            () -> {
              trace.step("B", "its clock is 5 s ahead: GET → passed");
              a.tryLock(() -> trace.step("A", "GET → passed"));
              trace.holds("A", "GETSET → the old deadline: A has it");
            });
    trace.refused("B", "GETSET → A's deadline: B has lost, and has overwritten it");
    boolean recognised = a.isStored();
    trace.step("A", "GET → " + (recognised ? "its own deadline" : "B's deadline, not its own"));
    if (c.tryLock(() -> trace.fault("C", "its clock is 30 s ahead: GET → passed"))) {
      trace.holds("C", "GETSET → the old deadline: C has it");
    }
    trace.writes("A", "writes");
    a.unlock();
    trace.ends("A", "DEL, as the stored deadline is not older than its own: it is C's");
    GetSetLock d = new GetSetLock(stage.redis(), name, System::currentTimeMillis);
    if (d.tryLock(() -> {})) {
      trace.holds("D", "SETNX → 1, while C works");
    }
    return Finding.twoHolders(
        trace,
        lost && !recognised
            ? "a loser overwrites A's deadline; C, whose clock is ahead, holds beside A; A's release"
                + " frees C's lock, and D holds beside C"
            : "C, whose clock is ahead, holds beside A");
  }

  /** Pawl sends no reading of any clock; what C sends is what every client sends. */
  @Override
  public Finding pawl(Stage stage) throws Exception {
    Trace trace = stage.trace();
    Pawl ours = stage.pawl(service());
    Lease a = ours.lock(stage.name()).acquire();
    stage.holds("A", "acquire", a);
    Actor c = stage.actorAhead(service(), AHEAD);
    boolean refused = c.awaitBusy();
    trace.fault("C", "its clock is " + c.aheadSeconds() + " s ahead");
    if (c.aheadSeconds() < SLIGHTLY_AHEAD.toSeconds()) {
      throw new LabException("C's clock was not moved");
    }
    trace.refused("C", "tryAcquire → " + (refused ? "busy" : "held"));
    boolean own = a.isValid() && PawlSteps.isRefused(stage, ours, "B");
    a.close();
    trace.ends("A", "close");
    Lease d = ours.lock(stage.name()).acquire();
    stage.holds("D", "acquire", d);
    return refused && own && d.token() > a.token()
        ? Finding.standsUnlessShared(
            trace, "no client's clock decides: C is refused, and A keeps what it has", "witness")
        : Finding.twoHolders(trace, "C was granted a lock that A held");
  }
}
