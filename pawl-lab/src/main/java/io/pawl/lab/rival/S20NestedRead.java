package io.pawl.lab.rival;

import io.pawl.JavaReadWriteLock;
import io.pawl.lab.stage.Finding;
import io.pawl.lab.stage.Service;
import io.pawl.lab.stage.Specimen;
import io.pawl.lab.stage.Stage;
import io.pawl.lab.stage.Trace;
import io.pawl.lab.stage.Verdict;
import java.time.Duration;
import org.redisson.api.RReadWriteLock;

/** A writer reads inside: with the read lock its renewal ends. */
public final class S20NestedRead implements Specimen {

  @Override
  public String id() {
    return "S20";
  }

  @Override
  public String title() {
    return RedissonClients.TITLE + ": RReadWriteLock, a read inside a write";
  }

  @Override
  public String origin() {
    return "Found here.";
  }

  @Override
  public Service service() {
    return Service.REDIS;
  }

  @Override
  public Finding play(Stage stage) throws Exception {
    Trace trace = stage.trace();
    var server = stage.redis();
    RReadWriteLock a = RedissonClients.on(stage).getReadWriteLock(stage.name());
    RReadWriteLock b = RedissonClients.on(stage).getReadWriteLock(stage.name());
    a.writeLock().lock();
    trace.holds("A", "writeLock().lock()");
    a.readLock().lock();
    trace.step("A", "readLock().lock(), by the same thread");
    a.readLock().unlock();
    trace.step("A", "readLock().unlock(); A goes on writing");
    Duration long3 = RedissonClients.WATCHDOG.multipliedBy(3);
    if (stage.holdsWithin(long3, () -> server.exists(stage.name()) == 0)) {
      trace.fault("server", "A's key has run out: nobody renews it");
      if (b.writeLock().tryLock()) {
        trace.holds("B", "writeLock().tryLock() → true");
      }
      trace.writes("A", "writes");
    } else {
      trace.step("server", "A's key is there after three watchdog time-outs");
    }
    return Finding.twoHolders(trace, "the write lock's renewal ends with the nested read lock");
  }

  @Override
  public Finding pawl(Stage stage) throws Exception {
    Trace trace = stage.trace();
    JavaReadWriteLock a =
        stage
            .pawl(service())
            .readWriteLock(stage.name(), Stage.renewedLease())
            .asJavaReadWriteLock();
    a.writeLock().lock();
    trace.holds(
        "A",
        "writeLock().lock() → token " + a.writeLock().token(),
        a.writeLock().token(),
        a.writeLock()::isValid);
    a.readLock().lock();
    trace.step("A", "readLock().lock(), by the same thread");
    a.readLock().unlock();
    trace.step("A", "readLock().unlock(); A goes on writing");
    boolean refused =
        stage
            .pawl(service())
            .readWriteLock(stage.name(), Stage.renewedLease())
            .writeLock()
            .tryAcquire(Stage.LONGER)
            .isEmpty();
    trace.refused("B", "writeLock().tryAcquire for 3 s → " + (refused ? "busy" : "held"));
    boolean kept = a.writeLock().isValid();
    a.writeLock().unlock();
    trace.ends("A", "writeLock().unlock()");
    return refused && kept
        ? Finding.standsUnlessShared(
            trace, "A holds until it unlocks; B is refused for longer than a lease", "witness")
        : new Finding(Verdict.TWO_HOLDERS, "the write hold ended with the nested read", "isValid");
  }
}
