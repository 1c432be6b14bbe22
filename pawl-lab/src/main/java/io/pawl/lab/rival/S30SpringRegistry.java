package io.pawl.lab.rival;

import io.pawl.lab.stage.Finding;
import io.pawl.lab.stage.PawlSteps;
import io.pawl.lab.stage.Service;
import io.pawl.lab.stage.Specimen;
import io.pawl.lab.stage.Stage;
import io.pawl.lab.stage.Trace;
import java.util.ConcurrentModificationException;
import java.util.concurrent.locks.Lock;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.integration.redis.util.RedisLockRegistry;

/** A registry's lock expires under its holder, who learns of it at unlock. */
public final class S30SpringRegistry implements Specimen {

  private static final long EXPIRY_MILLIS = 500;

  @Override
  public String id() {
    return "S30";
  }

  @Override
  public String title() {
    return Versions.of("Spring Integration", RedisLockRegistry.class)
        + ": RedisLockRegistry, a holder that takes longer than expireAfter";
  }

  @Override
  public String origin() {
    return "By design; renewal is off unless asked for, and there is no token.";
  }

  @Override
  public Service service() {
    return Service.REDIS;
  }

  @Override
  public Finding play(Stage stage) throws Exception {
    Trace trace = stage.trace();
    var server = stage.redis();
    Lock a = lock(stage);
    Lock b = lock(stage);
    a.lock();
    trace.holds("A", "obtain(name).lock(), expires after 500 ms");
    String key = "lab:" + stage.name();
    stage.await("the key runs out", () -> server.exists(key) == 0);
    trace.fault("A", "still works; nobody renews, and nobody tells it");
    boolean second = b.tryLock();
    if (second) {
      trace.holds("B", "obtain(name).tryLock() → true");
    }
    trace.writes("A", "writes");
    String end = "returns";
    try {
      a.unlock();
    } catch (ConcurrentModificationException | IllegalStateException e) {
      end = e.getClass().getSimpleName() + ": only now A learns of it";
    }
    trace.ends("A", "unlock() → " + end);
    if (second) {
      b.unlock();
    }
    return Finding.twoHolders(trace, "the lock expires under its holder, who learns at unlock");
  }

  private static Lock lock(Stage stage) {
    LettuceConnectionFactory connections =
        new LettuceConnectionFactory(stage.ground().redis().host(), stage.ground().redis().port());
    connections.afterPropertiesSet();
    connections.start();
    stage.own(connections::destroy);
    RedisLockRegistry registry = new RedisLockRegistry(connections, "lab", EXPIRY_MILLIS);
    stage.own(registry::destroy);
    return registry.obtain(stage.name());
  }

  @Override
  public Finding pawl(Stage stage) throws Exception {
    return PawlSteps.outlivesItsLease(stage, service());
  }
}
