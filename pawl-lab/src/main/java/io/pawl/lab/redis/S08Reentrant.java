package io.pawl.lab.redis;

import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.sync.RedisCommands;
import io.pawl.JavaLock;
import io.pawl.Pawl;
import io.pawl.lab.stage.Finding;
import io.pawl.lab.stage.PawlSteps;
import io.pawl.lab.stage.Service;
import io.pawl.lab.stage.Specimen;
import io.pawl.lab.stage.Stage;
import io.pawl.lab.stage.Trace;
import io.pawl.lab.stage.Verdict;

/** Whoever has the same value is the owner, and one release undoes all re-entries. */
public final class S08Reentrant implements Specimen {

  private static final long LEASE_MILLIS = 60_000;

  /** The value is a constant of the client, such as its host's name. */
  private record SameValueLock(RedisCommands<String, String> redis, String name, String value) {

    private static final String ENTER =
        "if redis.call('setnx', KEYS[1], ARGV[1]) == 1 or redis.call('get', KEYS[1]) == ARGV[1]"
            + " then return redis.call('pexpire', KEYS[1], ARGV[2]) end return 0";

    boolean tryLock() {
      Long entered =
          redis.eval(
              ENTER,
              ScriptOutputType.INTEGER,
              new String[] {name},
              value,
              Long.toString(LEASE_MILLIS));
      return entered == 1;
    }

    void unlock() {
      new ValueLock(redis, name, value).deleteIfMine();
    }
  }

  @Override
  public String id() {
    return "S8";
  }

  @Override
  public String title() {
    return "reentrant in Lua, where the value is a constant of the client";
  }

  @Override
  public String origin() {
    return "Articles that make S6 reentrant.";
  }

  @Override
  public Service service() {
    return Service.REDIS;
  }

  @Override
  public Finding play(Stage stage) {
    Trace trace = stage.trace();
    SameValueLock a = new SameValueLock(stage.redis(), stage.name(), "host-1");
    SameValueLock b = new SameValueLock(stage.redis(), stage.name(), "host-1");
    SameValueLock c = new SameValueLock(stage.redis(), stage.name(), "host-2");
    a.tryLock();
    trace.holds("A", "enters as host-1");
    if (b.tryLock()) {
      trace.holds("B", "another worker of host-1 enters: GET → host-1");
    }
    b.unlock();
    trace.ends("B", "releases: the key is gone");
    if (c.tryLock()) {
      trace.holds("C", "host-2 enters while A works");
    }
    trace.writes("A", "writes");
    return Finding.twoHolders(
        trace, "two workers of one host hold together; the first release lets host-2 in as well");
  }

  @Override
  public Finding pawl(Stage stage) throws Exception {
    Trace trace = stage.trace();
    Pawl host1 = stage.pawl(service());
    Pawl host2 = stage.pawl(service());
    JavaLock a = host1.lock(stage.name()).asJavaLock();
    a.lock();
    trace.holds("A", "lock → token " + a.token(), a.token(), a::isHeldByCurrentThread);
    a.lock();
    trace.step("A", "lock again: the same thread enters");
    boolean another = stage.get(stage.async(a::tryLock));
    if (another) {
      trace.holds("B", "another thread of the client enters");
    } else {
      trace.refused("B", "another thread of the client: tryLock → false");
    }
    a.unlock();
    trace.step("A", "unlock, one of two: held " + a.getHoldCount() + " time");
    boolean refused = PawlSteps.isRefused(stage, host2, "C");
    boolean counted = a.getHoldCount() == 1;
    a.unlock();
    trace.ends("A", "unlock");
    return refused && !another && counted
        ? Finding.standsUnlessShared(
            trace, "a lock belongs to one claim, and as many releases end it as entered", "witness")
        : new Finding(Verdict.TWO_HOLDERS, "another entered beside A", "tryLock");
  }
}
